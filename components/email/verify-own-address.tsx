'use client'

import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { RULES } from '@/contract/errors'
import { ConfirmIdentity, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { preloadContract } from '../api/load-contract'
import { PressError } from '../api/press-error'
import { Form } from '../forms/form'
import { useHost } from '../host/host'
import { Button } from '../ui/button'
import { CardBody, CardFooter } from '../ui/card'
import { ErrorAlert } from '../ui/error-alert'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { waysToChange } from './change-email-form'
import { useChangeEmail } from './email-calls'

interface OwnAddress {
  userId: string
  email: string
  ways: WaysToConfirm
  onSent: (answer: Answer<typeof changeEmail>) => void
}

/** Sends a code to the address that the account has already. */
function useVerifyOwn({ userId, email, ways, onSent }: OwnAddress, onError?: (error: unknown) => void) {
  const { refresh } = useHost()
  const send = useChangeEmail(userId, {
    onSuccess: onSent,
    onError: (error) => {
      onError?.(error)
      if (needsFreshSignIn(error)) refresh()
    },
  })
  const sendWith = (password?: string) =>
    send.mutate({
      new_email: email,
      ...(ways.hasPassword ? { current_password: password } : { reauthentication: 'fresh_sign_in' }),
    })
  return { send, sendWith }
}

interface ChoicesProps extends OwnAddress {
  /** The address is not verified, or its mailbox takes no mail. */
  needsProof: boolean
  /** The form was closed, so that its button is gone. */
  takesFocus: boolean
  onAsk: (what: 'change' | 'verification') => void
}

/** What a person can do about the address. */
export function Choices({ needsProof, takesFocus, onAsk, ...own }: ChoicesProps) {
  const t = useTranslations('EmailSettings')
  const { send, sendWith } = useVerifyOwn(own)
  const change = useFocusOnMount<HTMLButtonElement>(takesFocus)
  const asksFirst = own.ways.hasPassword || !own.ways.confirmedUntil
  return (
    <CardFooter className="justify-end">
      <PressError error={send.error} />
      {needsProof && (
        <Button
          className="w-full sm:w-auto"
          isPending={send.isPending}
          onFocus={preloadContract}
          onClick={() => (asksFirst ? onAsk('verification') : sendWith())}
        >
          {t('verifyOwn')}
        </Button>
      )}
      <Button ref={change} variant="secondary" className="w-full sm:w-auto" onClick={() => onAsk('change')}>
        {t('changeTitle')}
      </Button>
    </CardFooter>
  )
}

/** Asks for what the service wants to see before it sends a code to the own address. */
export function VerifyOwnAddress({ onCancel, ...own }: OwnAddress & { onCancel: () => void }) {
  const { userId, email, ways } = own
  const t = useTranslations('EmailSettings')
  const { fieldOf, showError } = useErrorTexts()
  const form = useForm<{ current_password: string }>()
  const { errors } = form.formState
  const { send, sendWith } = useVerifyOwn(own, (error) => showError(form, error))
  const submit = useProvenSubmit(form, ways, ({ current_password }) => sendWith(current_password))

  useEffect(() => {
    if (ways.hasPassword) form.setFocus('current_password')
  }, [ways.hasPassword, form])

  return (
    <Form onSubmit={submit}>
      <CardBody className="space-y-4 pt-0">
        <ConfirmIdentity
          userId={userId}
          email={email}
          purpose="change"
          ways={waysToChange(ways)}
          hint={t('verifyOwnHint')}
          values={() => ({})}
          password={fieldOf(form, 'current_password', { required: ways.hasPassword && RULES.currentPassword })}
        />
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
      </CardBody>
      <CardFooter className="max-sm:flex-col-reverse">
        <Button variant="quiet" className="w-full sm:-ms-3 sm:w-auto" onClick={onCancel}>
          {t('close')}
        </Button>
        <Button
          type="submit"
          className="w-full sm:ms-auto sm:w-auto"
          isPending={form.formState.isSubmitting || send.isPending}
        >
          {t('submit')}
        </Button>
      </CardFooter>
    </Form>
  )
}
