import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { SubmitErrorHandler, UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { needsPassword, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { isUnanswered, isUnreached, needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { useHost } from '../host/host'
import { CHECK_INTERVAL_MS, type WatchedBlockers } from './blockers'
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
  const { confirmPassword, refresh } = useHost()
  const { showError, showUntilBack } = useErrorTexts()
  const asksPassword = needsPassword(ways)
  /** What a browser without a network could not send has no effect that anybody has to fear. */
  const wasOffline = useRef(false)
  const lostAnswer = useLostAnswer(form, held)
  const showUnreached = () => {
    // An earlier press may have begun it.
    if (lostAnswer.isOpen) return lostAnswer.note()
    showUntilBack(form, t('notReached'))
  }
  const withdraw = useWithdrawAccount(userId, {
    onError: (error) => {
      if (isUnanswered(error)) {
        if (wasOffline.current) showUnreached()
        else lostAnswer.note()
      } else if (needsFreshSignIn(error) && asksPassword) {
        form.setError('current_password', { type: 'answer', message: t('confirmAgain') })
        form.setFocus('current_password', { shouldSelect: true })
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
      wasOffline.current = !navigator.onLine
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
    /** The last call was refused because something holds the deletion back. */
    isHeldBack: isHeldBack(withdraw.error),
  }
}

const isHeldBack = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_003'

/** Once the service answers again, the account is there, and nothing has begun. */
function useLostAnswer(form: UseFormReturn<WithdrawValues>, { answeredAt, check }: WatchedBlockers) {
  const t = useTranslations('DeleteAccount')
  const [lostMessage, message] = [t('lostAnswer'), t('notStarted')]
  const [lostAt, setLostAt] = useState<number | null>(null)
  useEffect(() => {
    if (lostAt === null) return
    if (answeredAt > lostAt) {
      setLostAt(null)
      form.setError('root', { type: 'answer', message })
      return
    }
    const timer = setInterval(check, CHECK_INTERVAL_MS)
    return () => clearInterval(timer)
  }, [lostAt, answeredAt, check, form, message])
  return {
    isOpen: lostAt !== null,
    note() {
      setLostAt(Date.now())
      form.setError('root', { type: 'answer', message: lostMessage })
    },
  }
}
