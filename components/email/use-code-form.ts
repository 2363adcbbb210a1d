import { useQueryClient } from '@tanstack/react-query'
import { type BaseSyntheticEvent, useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import type { Answer } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { ApiError, ERRORS } from '@/contract/errors'
import { useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { useVerifyEmail } from './email-calls'
import { emailStatusKey, type Pending } from './email-status'

const resolver = rulesOf((rules) => rules.codeRules)

/** A refusal that ends the request: one that says so, or the wrong code that used the last attempt. */
function endOf(error: unknown, leftBefore: number): ApiError | null {
  if (!(error instanceof ApiError)) return null
  if (error.code === 'EMAIL_003' && leftBefore <= 1)
    return new ApiError('EMAIL_005', ERRORS.EMAIL_005.details, ERRORS.EMAIL_005.status)
  return ['EMAIL_004', 'EMAIL_005', 'EMAIL_006'].includes(error.code) ? error : null
}

export interface CodeFormProps {
  userId: string
  pending: Pending
  onSubmit: () => void
  onVerified: (answer: Answer<typeof verifyEmail>) => void
  /** The request can no longer be verified, for the reason in `error`. */
  onEnded: (error: ApiError) => void
}

/** The form of the code. It also shows refusals of other calls about the same change. */
export function useCodeForm({ userId, pending, onSubmit, onVerified, onEnded }: CodeFormProps) {
  const { showError } = useErrorTexts()
  const queryClient = useQueryClient()
  /** The status that tells the attempts left may be older than the refusal. */
  const [leftAtMost, setLeftAtMost] = useState(pending.attemptsRemaining)
  const form = useForm({ resolver, reValidateMode: 'onSubmit' })
  const readAgain = () => queryClient.invalidateQueries({ queryKey: emailStatusKey(userId) })
  const focus = () => form.setFocus('verification_code')
  const left = Math.min(pending.attemptsRemaining, leftAtMost)
  /** Null while no code is on its way. A status that is read before its refusal comes counts it already. */
  const leftBefore = useRef<number | null>(null)
  const refused = (error: unknown) => {
    const before = leftBefore.current ?? left
    const end = endOf(error, before)
    if (end) onEnded(end)
    else if (error instanceof ApiError && error.code === 'EMAIL_003') {
      setLeftAtMost(before - 1)
      form.setValue('verification_code', '')
      form.setError('verification_code', { type: 'wrong', message: error.code })
      focus()
    } else showError(form, error)
    // Not awaited: the next code would be dropped while the status is being read.
    void readAgain()
  }
  const verify = useVerifyEmail(userId, { onMutate: onSubmit, onSuccess: onVerified, onError: refused })
  const send = form.handleSubmit(async ({ verification_code }) => {
    // An input method may complete a code twice in one moment, before the page knows of the first call.
    if (leftBefore.current !== null) return
    leftBefore.current = left
    const sent = verify.mutateAsync({ change_request_id: pending.changeRequestId, verification_code })
    await sent.catch(() => {}).finally(() => (leftBefore.current = null))
  })
  const submit = (event?: BaseSyntheticEvent) => {
    // The refusal of a wrong code has emptied the field, and says more than that it is empty.
    const isRefused = form.formState.errors.verification_code?.type === 'wrong' && !form.getValues('verification_code')
    if (!isRefused) return send(event)
    event?.preventDefault()
    focus()
  }
  return { form, left, submit, isPending: verify.isPending, focus, refused, readAgain }
}

export type CodeForm = ReturnType<typeof useCodeForm>
