'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import type { Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { DEFAULT_VERIFICATION_METHOD, VERIFICATION_METHODS } from '@/contract/vocabulary'
import { ConfirmIdentity, missingProof, type WaysToConfirm } from '../access/confirm-identity'
import { fieldText } from '../error-text'
import { FormCard } from '../form-card'
import { call, rulesOf } from '../load-contract'
import { isTooOld, showError } from '../show-error'
import { RadioField, TextField } from '../ui/field'
import { useDraft } from '../use-draft'
import { emailStatusKey, METHOD_TEXTS } from './email-status'

interface ChangeEmailFormProps {
  userId: string
  currentEmail: string
  ways: WaysToConfirm
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
  // Without default values, what was typed before React took over stays in the fields.
  const form = useForm<Values>({ resolver })
  useDraft('change', userId, form)
  const { errors } = form.formState
  const change = useMutation({
    mutationFn: (body: Values) => call('changeEmail', { userId }, body),
    onSuccess: async () => {
      onSent()
      // Not reset(), because it unchecks the radio buttons.
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
      onSubmit={form.handleSubmit((body) => {
        const missing = missingProof(ways)
        if (missing) return form.setError('root', { type: 'answer', message: missing })
        change.mutate(body)
      })}
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
        defaultValue={DEFAULT_VERIFICATION_METHOD}
        error={fieldText(errors.verification_method)}
        {...form.register('verification_method')}
      />
    </FormCard>
  )
}
