'use client'

import { useTranslations } from 'use-intl/react'
import { ConfirmedButton } from '../forms/confirmed-button'
import { useHost } from '../host/host'
import { bold } from '../ui/bold'
import type { Pending } from './email-status'

interface CancelChangeProps {
  userId: string
  pending: Pending
  isOwn: boolean
  onCancelled: () => unknown
  onRefused: (error: unknown) => unknown
}

export function CancelChange({ userId, pending, isOwn, onCancelled, onRefused }: CancelChangeProps) {
  const t = useTranslations('EmailSettings')
  const { call } = useHost()
  return (
    <ConfirmedButton
      label={t(isOwn ? 'ownCancel' : 'cancel')}
      variant="quiet"
      className="w-full sm:-me-3 sm:w-auto"
      question={t(isOwn ? 'ownCancelQuestion' : 'cancelQuestion')}
      consequence={<p>{t.rich('cancelConsequence', { address: () => bold(pending.newEmail) })}</p>}
      keep={t(isOwn ? 'ownCancelKeep' : 'cancelKeep')}
      confirm={t(isOwn ? 'ownCancelConfirm' : 'cancelConfirm')}
      confirmVariant="primary"
      act={() => call('cancelEmailChange', { userId, changeRequestId: pending.changeRequestId })}
      onDone={onCancelled}
      onRefused={onRefused}
    />
  )
}
