'use client'

import { BadgeCheck, CircleDashed, TriangleAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { WaysToConfirm } from '../access/confirm-identity'
import { useHost } from '../host/host'
import { LiveRegion } from '../ui/announcement'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { ChangeEmailForm } from './change-email-form'
import { type EmailStatus, isSameAddress, type Pending, pendingOf, useEmailStatus } from './email-status'
import { type Notice, NoticeAlert, noticeBetween, type Outcome } from './notice'
import { PendingChange } from './pending-change'
import { VerifyOwnAddress } from './verify-own-address'

interface EmailSettingsProps {
  userId: string
  ways: WaysToConfirm
  undoneWithin: string | null
  initialStatus: EmailStatus
  renderedAt: string
  /** Whether a mail server or a provider reports bounces to the service. */
  hearsOfBounces: boolean
}

export function EmailSettings(props: EmailSettingsProps) {
  const { userId, ways, undoneWithin, initialStatus, renderedAt, hearsOfBounces } = props
  const { refresh } = useHost()
  const status = useEmailStatus(userId, initialStatus, renderedAt, { hearsOfBounces })
  const [notice, setNotice] = useNotice(status)
  const [wasJustSent, setJustSent] = useState(false)
  const [isAsking, setAsking] = useState(false)

  const pending = pendingOf(status)
  const shown = pending && pending.changeRequestId !== notice?.changeRequestId ? pending : null
  const isOwn = shown !== null && isSameAddress(shown.newEmail, status.current_email)
  const needsProof = !status.email_verified || status.email_undeliverable
  const canTryAgain = notice && !notice.isOwn && ['expired', 'ended'].includes(notice.outcome)
  const say = ({ changeRequestId, newEmail }: Pending, outcome: Outcome) =>
    setNotice({ changeRequestId, newEmail, isAfterAction: true, isOwn, ...outcome })
  const onSent = () => {
    setJustSent(true)
    setAsking(false)
    setNotice(null)
  }

  return (
    <div className="space-y-6">
      <LiveRegion>
        {notice && (
          <NoticeAlert
            key={`${notice.changeRequestId} ${notice.isAfterAction}`}
            notice={notice}
            hasPassword={ways.hasPassword}
          />
        )}
      </LiveRegion>
      <CurrentAddress status={status}>
        {needsProof && !isOwn && (
          <VerifyOwnAddress
            userId={userId}
            email={status.current_email}
            ways={ways}
            isAsking={isAsking}
            onAsk={() => setAsking(true)}
            onSent={onSent}
          />
        )}
      </CurrentAddress>
      {shown && (
        <PendingChange
          key={shown.changeRequestId}
          userId={userId}
          pending={shown}
          isOwn={isOwn}
          takesFocus={wasJustSent}
          onVerified={(answer) => {
            say(shown, { outcome: isOwn ? 'verified' : 'changed', isNotified: answer.notification_sent })
            refresh()
          }}
          onCancelled={() => say(shown, { outcome: 'cancelled' })}
          onEnded={({ code }) => {
            if (code === 'EMAIL_006') return say(shown, { outcome: 'replaced' })
            say(shown, { outcome: 'ended', title: code === 'EMAIL_005' ? 'attemptsTitle' : 'codeExpiredTitle' })
          }}
        />
      )}
      <ChangeEmailForm
        userId={userId}
        currentEmail={status.current_email}
        ways={ways}
        // Only an old address that was verified gets the link.
        undoneWithin={status.email_verified ? undoneWithin : null}
        isPending={shown !== null && !shown.isUndeliverable}
        isFolded={isAsking && needsProof}
        suggestion={canTryAgain ? notice.newEmail : shown?.isUndeliverable && !isOwn ? shown.newEmail : undefined}
        onSent={onSent}
      />
    </div>
  )
}

/** The notice about the change that ended last, in this or another browser. */
function useNotice(status: EmailStatus) {
  const [known, setKnown] = useState(status)
  const [notice, setNotice] = useState<Notice | null>(null)
  if (status !== known) {
    setKnown(status)
    const ended = noticeBetween(known, status)
    const isSaid = ended?.changeRequestId === notice?.changeRequestId
    // A change that looked replaced may have been verified in another browser.
    const wasVerified = notice?.outcome === 'replaced' && ended?.outcome === 'changed'
    if (ended && (!isSaid || wasVerified)) setNotice(ended)
  }
  return [notice, setNotice] as const
}

/** The badge of the current address. */
function badgeOf({ email_undeliverable, email_verified }: EmailStatus) {
  if (email_undeliverable) return { tone: 'warning', icon: TriangleAlert, text: 'noMail' } as const
  if (email_verified) return { tone: 'success', icon: BadgeCheck, text: 'verified' } as const
  return { tone: 'warning', icon: CircleDashed, text: 'notVerified' } as const
}

function CurrentAddress({ status, children }: { status: EmailStatus; children: ReactNode }) {
  const t = useTranslations('EmailSettings')
  const { tone, icon: Icon, text } = badgeOf(status)
  const { verified_at: verifiedAt } = status
  return (
    <Card>
      <CardHeader
        title={t('currentTitle')}
        aside={
          <Badge tone={tone}>
            <Icon aria-hidden /> {t(text)}
          </Badge>
        }
      />
      <CardBody className="pt-3">
        <div className="space-y-1">
          <p className="wrap-anywhere font-medium text-lg leading-7 tracking-[-0.01em]">
            <bdi>{status.current_email}</bdi>
          </p>
          <p className="text-ink-muted">
            {verifiedAt
              ? t.rich('verifiedSince', { date: () => <LocalTime dateTime={verifiedAt} format="date" /> })
              : t('unverifiedText')}
          </p>
        </div>
      </CardBody>
      {children}
    </Card>
  )
}
