'use client'

import { BadgeCheck, CircleDashed } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { WaysToConfirm } from '../access/confirm-identity'
import { errorText } from '../error-text'
import { LiveRegion } from '../ui/announcement'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { ChangeEmailForm } from './change-email-form'
import { type EmailStatus, pendingOf, useEmailStatus } from './email-status'
import { type Notice, NoticeAlert, noticeBetween } from './notice'
import { PendingChange } from './pending-change'

interface EmailSettingsProps {
  userId: string
  ways: WaysToConfirm
  initialStatus: EmailStatus
  renderedAt: string
}

export function EmailSettings({ userId, ways, initialStatus, renderedAt }: EmailSettingsProps) {
  const router = useRouter()
  const status = useEmailStatus(userId, initialStatus, renderedAt)
  const [known, setKnown] = useState(status)
  const [notice, setNotice] = useState<Notice | null>(null)
  const [justSent, setJustSent] = useState(false)

  if (status !== known) {
    setKnown(status)
    const found = noticeBetween(known, status)
    const isSaid = found?.changeRequestId === notice?.changeRequestId
    // A change that looked replaced may have been verified in another browser.
    const wasVerified = notice?.outcome === 'replaced' && found?.outcome === 'changed'
    if (found && (!isSaid || wasVerified)) setNotice(found)
  }

  const pending = pendingOf(status)
  const shown = pending && pending.changeRequestId !== notice?.changeRequestId ? pending : null
  const canTryAgain = notice && ['expired', 'ended'].includes(notice.outcome)

  return (
    <div className="space-y-6">
      <LiveRegion>
        {notice && <NoticeAlert key={`${notice.changeRequestId} ${notice.byPress}`} notice={notice} />}
      </LiveRegion>
      <CurrentAddress status={status} />
      {shown && (
        <PendingChange
          key={shown.changeRequestId}
          userId={userId}
          pending={shown}
          renderedAt={renderedAt}
          takesFocus={justSent}
          onVerified={(answer) => {
            setNotice({
              outcome: 'changed',
              byPress: true,
              changeRequestId: shown.changeRequestId,
              newEmail: answer.new_email,
              oldEmail: status.current_email,
              notified: answer.notification_sent,
            })
            router.refresh()
          }}
          onCancelled={() =>
            setNotice({
              outcome: 'cancelled',
              byPress: true,
              changeRequestId: shown.changeRequestId,
              newEmail: shown.newEmail,
            })
          }
          onEnded={(error) => {
            const about = { byPress: true, changeRequestId: shown.changeRequestId, newEmail: shown.newEmail }
            setNotice(
              error.code === 'EMAIL_006'
                ? { ...about, outcome: 'replaced' }
                : { ...about, outcome: 'ended', text: errorText(error) },
            )
          }}
        />
      )}
      <ChangeEmailForm
        userId={userId}
        currentEmail={status.current_email}
        ways={ways}
        pendingEmail={shown?.newEmail}
        suggestion={canTryAgain ? notice.newEmail : undefined}
        onSent={() => {
          setJustSent(true)
          setNotice(null)
        }}
      />
    </div>
  )
}

function CurrentAddress({ status }: { status: EmailStatus }) {
  return (
    <Card>
      <CardHeader
        title="Current address"
        aside={
          status.email_verified ? (
            <Badge tone="success">
              <BadgeCheck aria-hidden /> Verified
            </Badge>
          ) : (
            <Badge tone="warning">
              <CircleDashed aria-hidden /> Not verified
            </Badge>
          )
        }
      />
      <CardBody className="space-y-1 pt-3">
        <p className="wrap-anywhere font-medium text-lg leading-7 tracking-[-0.01em]">{status.current_email}</p>
        <p className="text-ink-muted">
          {status.verified_at ? (
            <>
              Verified since <LocalTime dateTime={status.verified_at} format="date" />
            </>
          ) : (
            'You can sign in with it, but no message sent there was ever confirmed.'
          )}
        </p>
      </CardBody>
    </Card>
  )
}
