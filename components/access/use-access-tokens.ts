'use client'

import type { createAccessToken, listAccessTokens } from '@/contract/access'
import type { Answer } from '@/contract/define'
import { call } from '../api/load-contract'
import { useRenderedQuery } from '../api/use-rendered-query'

export type AccessToken = Answer<typeof listAccessTokens>['access_tokens'][number]
export type NewAccessToken = Answer<typeof createAccessToken>

export const accessTokensKey = (userId: string) => ['access-tokens', userId] as const

export const useAccessTokens = (userId: string, initialData: AccessToken[], renderedAt: string): AccessToken[] =>
  useRenderedQuery({
    queryKey: accessTokensKey(userId),
    read: async () => (await call('listAccessTokens', { userId })).access_tokens,
    initialData,
    renderedAt,
  })
