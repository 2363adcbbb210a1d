'use client'

import type { ComponentProps } from 'react'
import { useTranslations } from 'use-intl/react'
import { MIN_NEW_PASSWORD_LENGTH } from '@/contract/vocabulary'
import { PasswordField } from '../ui/field'

type Registered = Omit<ComponentProps<typeof PasswordField>, 'label'>

/** Asks for the new password twice, so that nobody is locked out by a typing mistake. */
export function NewPasswordFields({ password, repeated }: { password: Registered; repeated: Registered }) {
  const t = useTranslations('NewPassword')
  return (
    <>
      <PasswordField
        label={t('label')}
        autoComplete="new-password"
        hint={t('hint', { count: MIN_NEW_PASSWORD_LENGTH })}
        {...password}
      />
      <PasswordField label={t('again')} autoComplete="new-password" {...repeated} />
    </>
  )
}
