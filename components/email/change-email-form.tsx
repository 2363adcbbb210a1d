'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import type { Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { ConfirmIdentity, missingProof, type WaysToConfirm } from '../access/confirm-identity'
import { fieldText } from '../error-text'
import { isTooOld, showError } from '../show-error'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Card, CardBody, CardFooter, CardHeader } from '../ui/card'
import { RadioField, TextField } from '../ui/field'
import { useDraft } from '../use-draft'
import { emailStatusKey } from './email-status'
import { loadCalls, rulesOf } from './load-calls'

interface ChangeEmailFormProps {
  userId: string
  currentEmail: string
  ways: WaysToConfirm
  /** The address that waits now; a new change takes its place. */
  pendingEmail: string | undefined
  /** The address of a change that ran out, offered once more. */
  suggestion: string | undefined
  onSent: () => void
}

type Values = Body<typeof changeEmail>
const resolver = rulesOf<Values>((calls) => calls.changeRules)

const methods = [
  { value: 'email_code', label: 'Code', description: 'Type six digits on this page' },
  { value: 'email_link', label: 'Link', description: 'Open it and press one button' },
]

export function ChangeEmailForm({
  userId,
  currentEmail,
  ways,
  pendingEmail,
  suggestion,
  onSent,
}: ChangeEmailFormProps) {
  const router = useRouter()
  const queryClient = useQueryClient()
  // No default values: what was typed before React took over stays in the fields.
  const form = useForm<Values>({ resolver })
  useDraft('change', userId, form)
  const { errors } = form.formState
  const change = useMutation({
    mutationFn: async (body: Values) => (await loadCalls()).change(userId, body),
    onSuccess: async () => {
      onSent()
      // Not reset(): it leaves no radio checked.
      form.setValue('new_email', '')
      if (ways.hasPassword) form.setValue('current_password', '')
      await queryClient.invalidateQueries({ queryKey: emailStatusKey(userId) })
    },
    onError: (error) => {
      showError(form, error)
      if (isTooOld(error)) router.refresh()
    },
  })

  useEffect(() => {
    if (suggestion && !form.getValues('new_email')) form.setValue('new_email', suggestion)
  }, [suggestion, form])

  return (
    <Card>
      <form
        method="post"
        noValidate
        onFocus={() => void loadCalls().catch(() => {})}
        onSubmit={form.handleSubmit((body) => {
          const missing = missingProof(ways)
          if (missing) return form.setError('root', { type: 'answer', message: missing })
          change.mutate(body)
        })}
      >
        <CardHeader
          title={pendingEmail ? 'Use a different address' : 'Change address'}
          description={
            pendingEmail
              ? 'A new change takes the place of the pending one, whose code and link stop working.'
              : 'We send a message to the new address. Nothing changes until you confirm it from there.'
          }
        />
        <CardBody className="space-y-5">
          <TextField
            label="New email"
            inputMode="email"
            autoComplete="email"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            error={fieldText(errors.new_email)}
            {...form.register('new_email', { setValueAs: (text: string) => text.trim() })}
          />
          {!ways.hasPassword && <input type="hidden" value="fresh_sign_in" {...form.register('reauthentication')} />}
          <ConfirmIdentity
            userId={userId}
            email={currentEmail}
            purpose="change"
            // Where there is a password, the service takes nothing else for a change.
            ways={ways.hasPassword ? { hasPassword: true, provider: null, confirmedUntil: null } : ways}
            hint="So that nobody else can move your account to their address."
            values={form.getValues}
            password={{ error: fieldText(errors.current_password), ...form.register('current_password') }}
          />
          <RadioField
            legend="Confirm with"
            hint="Every message carries both; your choice comes first."
            options={methods}
            defaultValue="email_code"
            error={fieldText(errors.verification_method)}
            {...form.register('verification_method')}
          />
          {errors.root && <Alert tone="danger" role="alert" title={errors.root.message} />}
        </CardBody>
        <CardFooter className="justify-end">
          <Button type="submit" pending={form.formState.isSubmitting || change.isPending} className="w-full sm:w-auto">
            Send verification
          </Button>
        </CardFooter>
      </form>
    </Card>
  )
}
