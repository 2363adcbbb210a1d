'use client'

import { useMutation } from '@tanstack/react-query'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useForm } from 'react-hook-form'
import { GRANTABLE_SCOPES } from '@/contract/define'
import { fieldText } from '../error-text'
import { FormCard } from '../form-card'
import { call, rulesOf } from '../load-contract'
import { isTooOld, showError } from '../show-error'
import { signInAgain } from '../sign-in-again'
import { CheckboxField, FieldError, RadioField, TextField } from '../ui/field'
import { textLink } from '../ui/text-link'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { useDraft } from '../use-draft'
import { type NewAccessToken, scopeText } from './access-tokens'
import { ConfirmIdentity, missingProof, needsPassword, type WaysToConfirm } from './confirm-identity'
import type { TokenValues } from './create-token-rules'
import { LIFETIME_DAYS } from './token-lifetimes'

interface CreateTokenFormProps {
  userId: string
  email: string
  ways: WaysToConfirm
  /** True when the form comes back after a press. */
  takesFocus: boolean
  onCreated: (token: NewAccessToken) => void
  onSettled: () => void
}

const resolvers = {
  password: rulesOf<TokenValues>((rules) => rules.createTokenRules.password),
  none: rulesOf<TokenValues>((rules) => rules.createTokenRules.none),
}
const lifetimes = LIFETIME_DAYS.map((value) => ({ value, label: `${value} days` }))

export function CreateTokenForm({ userId, email, ways, takesFocus, onCreated, onSettled }: CreateTokenFormProps) {
  const heading = useFocusOnMount<HTMLHeadingElement>(takesFocus)
  const router = useRouter()
  const asksPassword = needsPassword(ways)
  const resolver = asksPassword ? resolvers.password : resolvers.none
  const form = useForm<TokenValues>({ resolver, shouldFocusError: false })
  useDraft('token', userId, form)
  const { errors } = form.formState
  const create = useMutation({
    mutationFn: async ({ name, scopes, expires_in_days, current_password }: TokenValues) => {
      if (asksPassword) await signInAgain(userId, current_password ?? '')
      return call(
        'createAccessToken',
        { userId },
        {
          name,
          scopes: GRANTABLE_SCOPES.filter((scope) => scopes[scope]),
          expires_in_days: Number(expires_in_days),
        },
      )
    },
    // No cache may keep the answer, because it holds the token.
    gcTime: 0,
    onSuccess: onCreated,
    onError: (error) => {
      showError(form, error)
      if (isTooOld(error)) router.refresh()
    },
    onSettled,
  })
  // React Hook Form cannot focus `scopes` itself, because no field has that name.
  const focusFirst = ({ name, scopes }: typeof errors) =>
    form.setFocus(name ? 'name' : scopes ? `scopes.${GRANTABLE_SCOPES[0]}` : 'current_password')

  return (
    <FormCard
      title="New token"
      headingRef={heading}
      description={
        <>
          Give it no more than it needs. How programs use it is in the{' '}
          <Link href="/docs/api" className={textLink}>
            API documentation
          </Link>
          .
        </>
      }
      bodyClassName="space-y-6"
      error={errors.root?.message}
      submit="Create token"
      pending={create.isPending}
      onSubmit={form.handleSubmit((values) => {
        const missing = missingProof(ways)
        if (missing) return form.setError('root', { type: 'answer', message: missing })
        create.mutate(values)
      }, focusFirst)}
    >
      <TextField
        label="Name"
        hint="What it is for, such as “Nightly export”."
        autoComplete="off"
        error={fieldText(errors.name)}
        {...form.register('name', { setValueAs: (text: string) => text.trim() })}
      />
      <fieldset className="min-w-0 space-y-1.5" aria-describedby={errors.scopes && 'scopes-error'}>
        <legend className="mb-2.5 font-medium">What it may do</legend>
        <div className="space-y-3.5">
          {GRANTABLE_SCOPES.map((scope) => (
            <CheckboxField
              key={scope}
              label={scopeText(scope)}
              hint={<code className="font-mono text-[0.8125rem]">{scope}</code>}
              {...form.register(`scopes.${scope}`, { deps: 'scopes' })}
            />
          ))}
        </div>
        <FieldError id="scopes-error">{fieldText(errors.scopes)}</FieldError>
      </fieldset>
      <RadioField
        legend="Works for"
        hint="Then it expires by itself. You can revoke it earlier."
        options={lifetimes}
        defaultValue="30"
        error={fieldText(errors.expires_in_days)}
        {...form.register('expires_in_days')}
      />
      <ConfirmIdentity
        userId={userId}
        email={email}
        purpose="token"
        ways={ways}
        hint="So that nobody else can make one in your name."
        values={form.getValues}
        password={{ error: fieldText(errors.current_password), ...form.register('current_password') }}
      />
    </FormCard>
  )
}
