import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { GRANTABLE_SCOPES } from '@/contract/define'
import { useErrorTexts } from '../api/error-texts'
import { Alert } from '../ui/alert'
import { CheckboxField, FieldError, RadioField } from '../ui/field'
import type { TokenValues } from './create-token-rules'
import { DELETING_SCOPE, ScopeHint, ScopeName } from './scope-name'
import { LIFETIME_DAYS } from './token-lifetimes'

/** What a new token may do, and a warning if it may delete the account. */
export function ScopeFields({ form: { control, register, formState } }: { form: UseFormReturn<TokenValues> }) {
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

/** From this lifetime on the field warns that it is long. */
const LONG_DAYS = 365

/** How long a new token works. */
export function LifetimeField({ form }: { form: UseFormReturn<TokenValues> }) {
  const t = useTranslations('AccessTokens')
  const { fieldOf } = useErrorTexts()
  const days = useWatch({ control: form.control, name: 'expires_in_days' })
  return (
    <RadioField
      legend={t('lifetime')}
      hint={Number(days) >= LONG_DAYS ? t('lifetimeLong') : t('lifetimeHint')}
      options={LIFETIME_DAYS.map((value) => ({ value, label: t('lifetimeDays', { days: Number(value) }) }))}
      defaultValue="30"
      {...fieldOf(form, 'expires_in_days')}
    />
  )
}
