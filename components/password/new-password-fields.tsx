'use client'

import type { ComponentProps } from 'react'
import { useTranslations } from 'use-intl/react'
import { MIN_NEW_PASSWORD_LENGTH } from '@/contract/vocabulary'
import { PasswordField } from '../ui/field'

type Registered = Omit<ComponentProps<typeof PasswordField>, 'label'>

/** Asks for the new password twice where a typing mistake would lock the person out. */
export function NewPasswordFields({ password, repeated }: { password: Registered; repeated?: Registered }) {
  const t = useTranslations('NewPassword')
  return (
    <>
      <PasswordField
        label={t('label')}
        autoComplete="new-password"
        hint={t('hint', { count: MIN_NEW_PASSWORD_LENGTH })}
        {...password}
      />
      {repeated && <PasswordField label={t('again')} autoComplete="new-password" {...repeated} />}
    </>
  )
}
