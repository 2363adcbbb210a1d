'use client'

import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { RULES } from '@/contract/errors'
import { ConfirmIdentity, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { preloadContract } from '../api/load-contract'
import { Form } from '../forms/form'
import { useHost } from '../host/host'
import { Button } from '../ui/button'
import { CardBody, CardFooter } from '../ui/card'
import { ErrorAlert } from '../ui/error-alert'
import { waysToChange } from './change-email-form'
import { useChangeEmail } from './email-calls'

interface VerifyOwnAddressProps {
  userId: string
  email: string
  ways: WaysToConfirm
  /** The password is asked for. */
  isAsking: boolean
  onAsk: () => void
  onSent: () => void
}

/** One button that sends a code to the address that the account has already. What the service asks for first unfolds at the press. */
export function VerifyOwnAddress({ userId, email, ways, isAsking, onAsk, onSent }: VerifyOwnAddressProps) {
  const t = useTranslations('EmailSettings')
  const { refresh } = useHost()
  const { errorText, fieldOf, showError } = useErrorTexts()
  const form = useForm<{ current_password: string }>()
  const { errors } = form.formState
  const needsProof = ways.hasPassword || !ways.confirmedUntil
  const send = useChangeEmail(userId, {
    onSuccess: onSent,
    onError: (error) => {
      showError(form, error)
      if (needsFreshSignIn(error)) refresh()
    },
  })

  const sendWith = (password?: string) =>
    send.mutate({
      new_email: email,
      ...(ways.hasPassword ? { current_password: password } : { reauthentication: 'fresh_sign_in' }),
    })

  const submit = useProvenSubmit(form, ways, ({ current_password }) => sendWith(current_password))

  useEffect(() => {
    if (isAsking && ways.hasPassword) form.setFocus('current_password')
  }, [isAsking, ways.hasPassword, form])

  if (!isAsking)
    return (
      <CardFooter className="justify-end">
        <ErrorAlert>{send.error ? errorText(send.error) : undefined}</ErrorAlert>
        <Button
          variant="secondary"
          className="w-full sm:w-auto"
          isPending={send.isPending}
          onFocus={preloadContract}
          onClick={() => (needsProof ? onAsk() : sendWith())}
        >
          {t('verifyOwn')}
        </Button>
      </CardFooter>
    )
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
      <CardFooter className="justify-end">
        <Button type="submit" className="w-full sm:w-auto" isPending={form.formState.isSubmitting || send.isPending}>
          {t('submit')}
        </Button>
      </CardFooter>
    </Form>
  )
}
