'use client'

import { useTranslations } from 'use-intl/react'
import { Alert } from '../ui/alert'
import { Announcement, LiveRegion } from '../ui/announcement'
import type { Pending } from './email-status'

interface SentToProps {
  id: string
  pending: Pending
  /** Whether the code of the message is in the field. */
  isFilled: boolean
}

/** Says where the newest message went, or that it came back. */
export function SentTo({ id, pending: { newEmail: email, isUndeliverable }, isFilled }: SentToProps) {
  const t = useTranslations('EmailSettings')
  return (
    <>
      <LiveRegion>
        {isUndeliverable && (
          <Announcement takesFocus="if-lost">
            <Alert tone="danger" title={t('undeliverableTitle')} text={t('undeliverableText', { email })} />
          </Announcement>
        )}
      </LiveRegion>
      {!isUndeliverable && (
        <div id={id} className="space-y-1.5">
          <p className="wrap-anywhere font-medium text-lg leading-7 tracking-[-0.01em]">
            <bdi>{email}</bdi>
          </p>
          <p className="text-ink-muted">{t(isFilled ? 'codeFilled' : 'codeSent')}</p>
        </div>
      )}
    </>
  )
}
