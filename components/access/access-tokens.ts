'use client'

import { useQuery } from '@tanstack/react-query'
import type { createAccessToken, listAccessTokens } from '@/contract/access'
import { type Answer, SCOPES } from '@/contract/define'
import { call } from '../load-contract'

export type AccessToken = Answer<typeof listAccessTokens>['access_tokens'][number]
export type NewAccessToken = Answer<typeof createAccessToken>

export const accessTokensKey = (userId: string) => ['access-tokens', userId] as const

/** The tokens that the server rendered; they are read again whenever the window gets the focus. */
export function useAccessTokens(userId: string, initial: AccessToken[]): AccessToken[] {
  const { data } = useQuery({
    queryKey: accessTokensKey(userId),
    queryFn: async () => (await call('listAccessTokens', { userId })).access_tokens,
    initialData: initial,
    refetchOnWindowFocus: 'always',
  })
  return data
}

/** The lifetimes that the form offers. */
export const LIFETIME_DAYS = ['7', '30', '90', '365'] as const

const inWords: Record<string, string> = SCOPES

export const scopeText = (scope: string) => inWords[scope] ?? scope
