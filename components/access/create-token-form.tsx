'use client'

import { useMutation } from '@tanstack/react-query'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type UseFormReturn, useForm, useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { GRANTABLE_SCOPES } from '@/contract/define'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { call, rulesOf } from '../api/load-contract'
import { FormCard } from '../forms/form-card'
import { useDraft } from '../forms/use-draft'
import { signInAgain } from '../session/sign-in-again'
import { Alert } from '../ui/alert'
import { CheckboxField, FieldError, RadioField, TextField } from '../ui/field'
import { textLink } from '../ui/text-link'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { ConfirmIdentity, needsPassword, useProvenSubmit, type WaysToConfirm } from './confirm-identity'
import type { TokenValues } from './create-token-rules'
import { DELETING_SCOPE, ScopeHint, ScopeName } from './scope-name'
import { LIFETIME_DAYS } from './token-lifetimes'
import type { NewAccessToken } from './use-access-tokens'

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
/** From this lifetime on the form warns that it is long. */
const LONG_DAYS = 365

export function CreateTokenForm({ userId, email, ways, takesFocus, onCreated, onSettled }: CreateTokenFormProps) {
  const t = useTranslations('AccessTokens')
  const { fieldOf, showError } = useErrorTexts()
  const heading = useFocusOnMount<HTMLHeadingElement>(takesFocus)
  const router = useRouter()
  const asksPassword = needsPassword(ways)
  const resolver = asksPassword ? resolvers.password : resolvers.none
  const form = useForm<TokenValues>({ resolver, shouldFocusError: false })
  useDraft('token', userId, form)
  const { errors } = form.formState
  const days = useWatch({ control: form.control, name: 'expires_in_days' })
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
      if (needsFreshSignIn(error)) router.refresh()
    },
    onSettled,
  })
  // React Hook Form cannot focus `scopes` itself, because no field has that name.
  const focusFirst = ({ name, scopes }: typeof errors) =>
    form.setFocus(name ? 'name' : scopes ? `scopes.${GRANTABLE_SCOPES[0]}` : 'current_password')
  const submit = useProvenSubmit(form, ways, create.mutate, focusFirst)

  return (
    <FormCard
      title={t('newTitle')}
      headingRef={heading}
      description={t.rich('newHint', {
        link: (text) => (
          <Link href="/docs/api" className={textLink}>
            {text}
          </Link>
        ),
      })}
      bodyClassName="space-y-6"
      error={errors.root?.message}
      submit={t('create')}
      isPending={create.isPending}
      onSubmit={submit}
    >
      <TextField
        label={t('name')}
        hint={t('nameHint')}
        autoComplete="off"
        {...fieldOf(form, 'name', { setValueAs: (text: string) => text.trim() })}
      />
      <Scopes form={form} />
      <RadioField
        legend={t('lifetime')}
        hint={Number(days) >= LONG_DAYS ? t('lifetimeLong') : t('lifetimeHint')}
        options={LIFETIME_DAYS.map((value) => ({ value, label: t('lifetimeDays', { days: Number(value) }) }))}
        defaultValue="30"
        {...fieldOf(form, 'expires_in_days')}
      />
      <ConfirmIdentity
        userId={userId}
        email={email}
        purpose="token"
        ways={ways}
        hint={t('identityHint')}
        values={form.getValues}
        password={fieldOf(form, 'current_password')}
      />
    </FormCard>
  )
}

function Scopes({ form: { control, register, formState } }: { form: UseFormReturn<TokenValues> }) {
  const t = useTranslations('AccessTokens')
  const { fieldText } = useErrorTexts()
  const scopes = useWatch({ control, name: 'scopes' })
  const { errors } = formState
  return (
    <fieldset className="min-w-0 space-y-1.5" aria-describedby={errors.scopes && 'scopes-error'}>
      <legend className="mb-2.5 font-medium">{t('permissions')}</legend>
      <div className="space-y-3.5">
        {GRANTABLE_SCOPES.map((scope) => (
          <CheckboxField
            key={scope}
            label={<ScopeName scope={scope} />}
            hint={<ScopeHint scope={scope} />}
            {...register(`scopes.${scope}`, { deps: 'scopes' })}
          />
        ))}
      </div>
      <div aria-live="polite" className="empty:hidden">
        {scopes?.[DELETING_SCOPE] && (
          <Alert tone="danger" title={t('danger')} className="mt-3" text={t('dangerText')} />
        )}
      </div>
      <FieldError id="scopes-error">{fieldText(errors.scopes)}</FieldError>
    </fieldset>
  )
}
