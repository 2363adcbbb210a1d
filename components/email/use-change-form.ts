import { useEffect, useRef } from 'react'
import { useForm } from 'react-hook-form'
import type { Answer, Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { focusFirstWrong } from '../forms/focus-first-wrong'
import { useDraft } from '../forms/use-draft'
import { useHost } from '../host/host'
import { useChangeEmail } from './email-calls'
import { type Pending, pendingOf } from './email-status'

type Values = Body<typeof changeEmail>
const resolver = rulesOf<Values>((rules) => rules.changeEmailRules)

export interface ChangeForm {
  userId: string
  ways: WaysToConfirm
  isOpen: boolean
  /** The new change replaces a pending one. */
  isReplacing: boolean
  /** The person has opened it; one for a message that came back is open by itself. */
  canClose: boolean
  /** What was typed before a new sign-in is in the fields again. */
  onFilled: () => void
  /** `replaced`: the change that was pending until then. Another browser may have asked for it since this page last looked. */
  onSent: (answer: Answer<typeof changeEmail>, replaced: Pending | null) => void
}

/** The values of the form, the call that it makes, and what becomes of both. */
export function useChangeForm({ userId, ways, isOpen, canClose, onFilled, onSent }: ChangeForm) {
  const { call, refresh } = useHost()
  const replaced = useRef<Pending | null>(null)
  const { showError } = useErrorTexts()
  const form = useForm<Values>({ resolver, shouldFocusError: false })
  const isFilled = useDraft('change', userId, form)
  const empty = () => {
    // Not reset(), because it empties the hidden field too.
    form.setValue('new_email', '')
    if (ways.hasPassword) form.setValue('current_password', '')
    form.clearErrors()
  }
  const change = useChangeEmail(userId, {
    onSuccess: (answer) => {
      onSent(answer, replaced.current)
      empty()
    },
    onError: (error) => {
      showError(form, error)
      if (needsFreshSignIn(error)) refresh()
    },
  })
  const send = async (body: Values) => {
    replaced.current = await call('getEmailStatus', { userId }).then(pendingOf, () => null)
    change.mutate(body)
  }
  const submit = useProvenSubmit(form, ways, send, focusFirstWrong)

  useEffect(() => {
    if (isFilled) onFilled()
  }, [isFilled, onFilled])

  useEffect(() => {
    // What is offered again is selected, so that typing replaces it.
    if (isOpen && canClose) form.setFocus('new_email', { shouldSelect: true })
  }, [isOpen, canClose, form])

  return { form, empty, submit, isPending: form.formState.isSubmitting || change.isPending }
}
