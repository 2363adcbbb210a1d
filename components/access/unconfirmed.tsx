'use client'

import { useTranslations } from 'use-intl/react'
import { Alert } from '../ui/alert'

const REASONS = ['declined', 'away', 'other', 'unasked', 'weak'] as const

/** Says why the identity provider did not confirm the person. */
export function Unconfirmed({ reason, provider }: { reason: unknown; provider: string | null }) {
  const t = useTranslations('Identity')
  if (typeof reason !== 'string') return null
  const known = REASONS.find((name) => name === reason) ?? 'late'
  return (
    <Alert tone="warning" role="alert" title={t('unconfirmedTitle')} className="mb-6">
      <p>{t(`unconfirmed.${known}`, { provider: provider ?? t('unconfirmedProvider') })}</p>
      <p>{t('unconfirmedNothing')}</p>
    </Alert>
  )
}
