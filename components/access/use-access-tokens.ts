'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import type { UseFormReturn } from 'react-hook-form'
import type { createAccessToken, listAccessTokens } from '@/contract/access'
import { type Answer, GRANTABLE_SCOPES } from '@/contract/define'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { call } from '../api/load-contract'
import { untilAnswered } from '../api/until-answered'
import { useRenderedQuery } from '../api/use-rendered-query'
import { signInAgain } from '../session/sign-in-again'
import type { TokenValues } from './create-token-rules'

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

interface Creating {
  asksPassword: boolean
  onCreated: (token: NewAccessToken) => void
  onSettled: () => void
}

/** Confirms the password where it is asked for, and then creates the token. The form shows a refusal. */
export function useCreateToken(userId: string, form: UseFormReturn<TokenValues>, given: Creating) {
  const { asksPassword, onCreated, onSettled } = given
  const { showError } = useErrorTexts()
  const router = useRouter()
  return useMutation({
    mutationFn: async ({ name, scopes, expires_in_days, current_password }: TokenValues) => {
      if (asksPassword) await signInAgain(userId, current_password ?? '')
      const granted = GRANTABLE_SCOPES.filter((scope) => scopes[scope])
      const body = { name, scopes: granted, expires_in_days: Number(expires_in_days) }
      return untilAnswered((options) => call('createAccessToken', { userId }, body, options))
    },
    // No cache may keep the answer, because it holds the token.
    gcTime: 0,
    onSuccess: onCreated,
    onError: (error) => {
      showError(form, error)
      if (needsFreshSignIn(error)) router.refresh()
    },
    onSettled,
  })
}
