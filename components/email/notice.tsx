'use client'

import { useTranslations } from 'use-intl/react'
import { Announcement } from '../ui/announcement'
import { HeadedAlert } from '../ui/headed-alert'
import { serverNow } from '../ui/server-clock'
import { type EmailStatus, isSameAddress, pendingOf } from './email-status'

/** The end of a change request. The page shows it until the next change is sent. */
export type Notice = {
  changeRequestId: string
  newEmail: string
  isAfterAction: boolean
  /** Not a change: the account's own address was to be verified. */
  isOwn: boolean
} & Outcome

export type Outcome =
  | { outcome: 'changed' | 'verified'; isNotified: boolean }
  | { outcome: 'cancelled' | 'expired' | 'gone' | 'replaced' | 'superseded' | 'linkUsed' | 'linkEnded' }
  | { outcome: 'ended'; title: 'attemptsTitle' | 'codeExpiredTitle' }

/**
 * What a newer status says about the change that was pending. Another browser may have verified, cancelled or replaced it. `sent` is
 * the change that this page asked for.
 */
export function noticeBetween(before: EmailStatus, after: EmailStatus, sent: string | null): Notice | null {
  const was = pendingOf(before)
  if (!was || pendingOf(after)?.changeRequestId === was.changeRequestId) return null
  const isOwn = isSameAddress(was.newEmail, before.current_email)
  const about = { changeRequestId: was.changeRequestId, newEmail: was.newEmail, isAfterAction: false, isOwn }
  if (after.current_email !== before.current_email)
    return { ...about, outcome: 'changed', newEmail: after.current_email, isNotified: true }
  if (isOwn && after.email_verified) return { ...about, outcome: 'verified', isNotified: false }
  const newer = pendingOf(after)
  if (newer) return newer.changeRequestId === sent ? null : { ...about, outcome: 'superseded' }
  return { ...about, outcome: Date.parse(was.expiresAt) <= serverNow() + 1000 ? 'expired' : 'gone' }
}

interface NoticeProps {
  notice: Notice
  /** The account has a password, which goes with its address. */
  hasPassword: boolean
  /** Says how long the old address can undo a change; null where it cannot. */
  undoneWithin: string | null
}

export const NoticeAlert = (props: NoticeProps) => (
  <Announcement takesFocus={props.notice.isAfterAction || 'if-lost'}>
    <NoticeText {...props} />
  </Announcement>
)

function NoticeText({ notice, hasPassword, undoneWithin }: NoticeProps) {
  const t = useTranslations('EmailSettings')
  const { newEmail: email, isOwn } = notice
  switch (notice.outcome) {
    case 'changed':
      return (
        <HeadedAlert tone="success" title={t('changedTitle', { email })}>
          {hasPassword && <p>{t('changedSignIn')}</p>}
          <p>
            {t(notice.isNotified ? 'changedText' : 'changedTextSoon')} {undoneWithin}
          </p>
        </HeadedAlert>
      )
    case 'verified':
      return <HeadedAlert tone="success" title={t('verifiedNotice')} text={t('verifiedNoticeText', { email })} />
    case 'cancelled':
      return (
        <HeadedAlert
          tone="info"
          title={t(isOwn ? 'ownCancelledTitle' : 'cancelledTitle')}
          text={t('cancelledText', { email })}
        />
      )
    case 'expired':
      return <HeadedAlert tone="warning" title={t('expiredTitle', { email })} text={t('expiredText')} />
    case 'gone':
      return <HeadedAlert tone="info" title={t('goneTitle', { email })} text={t('goneText')} />
    case 'replaced':
    case 'superseded':
      return <HeadedAlert tone="warning" title={t(`${notice.outcome}Title`)} text={t('replacedText', { email })} />
    case 'linkUsed':
      return <HeadedAlert tone="info" title={t('linkUsedTitle')} text={t('linkUsedText')} />
    case 'linkEnded':
      return <HeadedAlert tone="warning" title={t('linkEndedTitle')} text={t('linkEndedText')} />
    case 'ended': {
      const text = isOwn ? t('expiredText') : `${t('endedText', { email })} ${t('startAgainText')}`
      return <HeadedAlert tone="warning" title={t(notice.title)} text={text} />
    }
  }
}
