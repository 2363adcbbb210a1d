'use client'

import Link from 'next/link'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { GRANTABLE_SCOPES } from '@/contract/define'
import { useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { FormCard } from '../forms/form-card'
import { useDraft } from '../forms/use-draft'
import { TextField } from '../ui/field'
import { textLink } from '../ui/text-link'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { ConfirmIdentity, needsPassword, useProvenSubmit, type WaysToConfirm } from './confirm-identity'
import type { TokenValues } from './create-token-rules'
import { LifetimeField, ScopeFields } from './token-fields'
import { type NewAccessToken, useCreateToken } from './use-access-tokens'

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

export function CreateTokenForm({ userId, email, ways, takesFocus, onCreated, onSettled }: CreateTokenFormProps) {
  const t = useTranslations('AccessTokens')
  const { fieldOf } = useErrorTexts()
  const heading = useFocusOnMount<HTMLHeadingElement>(takesFocus)
  const asksPassword = needsPassword(ways)
  const form = useForm<TokenValues>({
    resolver: asksPassword ? resolvers.password : resolvers.none,
    shouldFocusError: false,
  })
  useDraft('token', userId, form)
  const { errors } = form.formState
  const create = useCreateToken(userId, form, { asksPassword, onCreated, onSettled })
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
      error={errors.root}
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
      <ScopeFields form={form} />
      <LifetimeField form={form} />
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
