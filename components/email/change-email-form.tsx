'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import type { Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { DEFAULT_VERIFICATION_METHOD, VERIFICATION_METHODS } from '@/contract/vocabulary'
import { fieldText } from '../error-text'
import { FormCard } from '../form-card'
import { call, rulesOf } from '../load-contract'
import { showError } from '../show-error'
import { CurrentPasswordField, RadioField, TextField } from '../ui/field'
import { emailStatusKey, METHOD_TEXTS } from './email-status'

interface ChangeEmailFormProps {
  userId: string
  currentEmail: string
  /** The address of the pending change, which a new change supersedes. */
  pendingEmail: string | undefined
  /** The address of a change that has expired or ended, offered again. */
  suggestion: string | undefined
  onSent: () => void
}

type Values = Body<typeof changeEmail>
const resolver = rulesOf<Values>((rules) => rules.changeEmailRules)

const methods = VERIFICATION_METHODS.map((value) => ({
  value,
  label: METHOD_TEXTS[value].label,
  description: METHOD_TEXTS[value].description,
}))

export function ChangeEmailForm({ userId, currentEmail, pendingEmail, suggestion, onSent }: ChangeEmailFormProps) {
  const queryClient = useQueryClient()
  // Without default values, what was typed before React took over stays in the fields.
  const form = useForm<Values>({ resolver })
  const { errors } = form.formState
  const change = useMutation({
    mutationFn: (body: Values) => call('changeEmail', { userId }, body),
    onSuccess: async () => {
      onSent()
      // Not reset(), because it unchecks the radio buttons.
      form.setValue('new_email', '')
      form.setValue('current_password', '')
      await queryClient.invalidateQueries({ queryKey: emailStatusKey(userId) })
    },
    onError: (error) => showError(form, error),
  })

  useEffect(() => {
    if (suggestion && !form.getValues('new_email')) form.setValue('new_email', suggestion)
  }, [suggestion, form])

  return (
    <FormCard
      title={pendingEmail ? 'Use a different address' : 'Change address'}
      description={
        pendingEmail
          ? 'A new change takes the place of the pending one, whose code and link stop working.'
          : 'We send a message to the new address. Nothing changes until you confirm it from there.'
      }
      bodyClassName="space-y-5"
      error={errors.root?.message}
      submit="Send verification"
      pending={form.formState.isSubmitting || change.isPending}
      onSubmit={form.handleSubmit((body) => change.mutate(body))}
    >
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
      <CurrentPasswordField
        email={currentEmail}
        hint="So that nobody else can move your account to their address."
        error={fieldText(errors.current_password)}
        {...form.register('current_password')}
      />
      <RadioField
        legend="Confirm with"
        hint="Every message carries both; your choice comes first."
        options={methods}
        defaultValue={DEFAULT_VERIFICATION_METHOD}
        error={fieldText(errors.verification_method)}
        {...form.register('verification_method')}
      />
    </FormCard>
  )
}
