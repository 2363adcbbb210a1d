'use client'

import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { RULES } from '@/contract/errors'
import { ConfirmIdentity, useProvenSubmit } from '../access/confirm-identity'
import { useErrorTexts } from '../api/error-texts'
import { Form } from '../forms/form'
import { Button } from '../ui/button'
import { CardBody, CardFooter } from '../ui/card'
import { ErrorAlert } from '../ui/error-alert'
import { waysToChange } from './change-email-form'
import { type OwnAddress, useVerifyOwn } from './use-verify-own'

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
        <ErrorAlert error={errors.root} />
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
