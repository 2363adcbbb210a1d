import { useMutation } from '@tanstack/react-query'
import type { SubmitErrorHandler, UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { needsPassword, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { isAway, isUnanswered, isUnreached, needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { useHost } from '../host/host'
import type { WatchedBlockers } from './blockers'
import { useWithdrawAccount } from './use-withdraw-account'
import type { WithdrawValues } from './withdraw-rules'

interface Submitting {
  userId: string
  ways: WaysToConfirm
  held: WatchedBlockers
  onWrong: SubmitErrorHandler<WithdrawValues>
}

/** Confirms the password where it is asked for, begins the deletion, and shows a refusal where it belongs. */
export function useSubmitWithdrawal(form: UseFormReturn<WithdrawValues>, { userId, ways, held, onWrong }: Submitting) {
  const t = useTranslations('DeleteAccount')
  const blockers = useTranslations('Blockers')
  const { confirmPassword, refresh } = useHost()
  const { showError, showUntilBack } = useErrorTexts()
  const asksPassword = needsPassword(ways)
  const showUnreached = () => showUntilBack(form, t('notReached'))
  const withdraw = useWithdrawAccount(userId, {
    onError: (error) => {
      if (isUnanswered(error)) showUnreached()
      else if (needsFreshSignIn(error) && asksPassword) {
        form.setError('current_password', { type: 'answer', message: t('confirmAgain') })
        form.setFocus('current_password', { shouldSelect: true })
      } else if (isAway(error) && held.isAppSilent) {
        // The service is there, and the page says above what it waits for.
        form.setError('root', { type: 'answer', message: blockers('unknownStill') })
      } else showError(form, error)
      if (isHeldBack(error)) held.show(error)
      if (isHeldBack(error) || needsFreshSignIn(error)) refresh()
    },
  })
  const prove = useMutation({
    mutationFn: async ({ current_password }: WithdrawValues) => {
      if (asksPassword) await confirmPassword(userId, current_password ?? '')
    },
    // The password would stay in memory.
    gcTime: 0,
    onSuccess: (_proven, { current_password: _, ...body }) => {
      withdraw.mutate(body)
    },
    onError: (error) => {
      if (isUnreached(error)) showUnreached()
      else showError(form, error)
    },
  })
  return {
    submit: useProvenSubmit(form, ways, prove.mutate, onWrong),
    isPending: form.formState.isSubmitting || prove.isPending || withdraw.isPending || withdraw.isSuccess,
    /** Says that the deletion may have begun. */
    doubt: withdraw.isUnsure ? { message: t('lostAnswer') } : undefined,
    /** The last call was refused because something holds the deletion back. */
    isHeldBack: isHeldBack(withdraw.error),
  }
}

const isHeldBack = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_003'
