import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import { ApiError } from '@/contract/errors'
import type { confirmRequestedWithdrawal } from '@/contract/withdrawal-request'
import { isUnanswered, useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { useBeginDeletion } from './use-begin-deletion'
import type { WithdrawValues } from './withdraw-rules'

const resolver = rulesOf<WithdrawValues>((rules) => rules.withdrawRules.none)

export interface ConfirmDeletionCalls {
  /** That of the mailed link. */
  token: string
  onStarted: (started: Answer<typeof confirmRequestedWithdrawal>) => void
  /** Ends the page where the error says that the link no longer works. */
  endIf: (error: unknown) => boolean
  onHeldBack: () => void
}

/** Begins the deletion, and shows a refusal where it belongs. */
export function useConfirmDeletion({ token, onStarted, endIf, onHeldBack }: ConfirmDeletionCalls) {
  const t = useTranslations('DeleteAccount')
  const { showError, showUntilBack } = useErrorTexts()
  const form = useForm<WithdrawValues>({ resolver })
  const { errors, isSubmitting } = form.formState
  const confirm = useBeginDeletion({
    reach: () => callWith(() => token, 'previewRequestedWithdrawal', {}),
    send: (body: WithdrawValues, options) => callWith(() => token, 'confirmRequestedWithdrawal', {}, body, options),
    onSuccess: onStarted,
    onError: (error) => {
      if (endIf(error)) return
      if (error instanceof ApiError && error.code === 'WITHDRAWAL_003') onHeldBack()
      if (isUnanswered(error)) showUntilBack(form, t('notReached'))
      else showError(form, error)
    },
  })
  return {
    form,
    submit: form.handleSubmit((values) => confirm.mutate(values)),
    isPending: isSubmitting || confirm.isPending || confirm.isSuccess,
    error: confirm.isUnsure ? { message: t('lostAnswer') } : errors.root,
  }
}
