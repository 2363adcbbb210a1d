'use client'

import { BadgeCheck, CircleDashed, TriangleAlert } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { WaysToConfirm } from '../access/confirm-identity'
import { useHost } from '../host/host'
import { LiveRegion } from '../ui/announcement'
import { Badge } from '../ui/badge'
import { Card, CardBody } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { LocalTime } from '../ui/local-time'
import { AddressChoices } from './address-choices'
import { ChangeEmailForm } from './change-email-form'
import { type EmailStatus, isSameAddress, type Pending, pendingOf, useEmailStatus } from './email-status'
import { useMailedLink } from './mailed-link'
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
  hasBounceReports: boolean
  onChanged?: ((email: string) => unknown) | undefined
}

export function EmailSettings(props: EmailSettingsProps) {
  const { userId, ways, undoneWithin, initialStatus, renderedAt, hasBounceReports, onChanged } = props
  const { refresh } = useHost()
  const status = useEmailStatus(userId, initialStatus, renderedAt, { hasBounceReports })
  /** The change that was asked for here. */
  const [sent, setSent] = useState<string | null>(null)
  /** The change whose cancellation got no answer. */
  const [cancelling, setCancelling] = useState<string | null>(null)
  const [notice, setNotice] = useNotice(status, sent, cancelling)
  /** What the person has opened. */
  const [opened, setOpened] = useState<'change' | 'replacement' | 'verification' | null>(null)
  const [wasClosed, setWasClosed] = useState(false)
  /** Only an address that was verified can undo a change. */
  const [wasVerified] = useState(initialStatus.email_verified)

  const email = status.current_email
  const pending = pendingOf(status)
  const shown = pending && pending.changeRequestId !== notice?.changeRequestId ? pending : null
  const isOwn = shown !== null && isSameAddress(shown.newEmail, email)
  const needsProof = !status.email_verified || status.email_undeliverable
  const canTryAgain = notice && !notice.isOwn && ['expired', 'ended'].includes(notice.outcome)
  const isReplacing = opened === 'replacement'
  const isChanging = isReplacing || (shown ? shown.isUndeliverable : opened === 'change')
  const say = ({ changeRequestId, newEmail }: Pending, outcome: Outcome) =>
    setNotice({ changeRequestId, newEmail, isAfterAction: true, isOwn, ...outcome })
  const open = (what: typeof opened) => {
    setOpened(what)
    setWasClosed(what === null)
    // What ended has been read by then, unless the form offers its address again.
    if (what !== null && !pending && !canTryAgain) setNotice(null)
  }
  const onOldLink = useCallback(
    (changeRequestId: string, wasVerified: boolean) => {
      const about = { changeRequestId, newEmail: '', isAfterAction: true, isOwn: false }
      setNotice({ ...about, outcome: wasVerified ? 'linkUsed' : 'linkEnded' })
    },
    [setNotice],
  )
  const link = useMailedLink(userId, onOldLink)
  const onFilled = useCallback(() => setOpened('replacement'), [])
  const onSent = ({ change_request_id }: { change_request_id: string }) => {
    setSent(change_request_id)
    setOpened(null)
    setWasClosed(false)
    setNotice(null)
  }

  // Other parts of the page show it too, and another browser may have verified an address.
  const known = useRef({ email, needsProof })
  useEffect(() => {
    const before = known.current
    if (before.email === email && before.needsProof === needsProof) return
    known.current = { email, needsProof }
    refresh()
    if (before.email !== email) onChanged?.(email)
  }, [email, needsProof, refresh, onChanged])

  return (
    // The closed form takes no gap.
    <div className="flex flex-col gap-6">
      <LiveRegion>
        {notice && (
          <NoticeAlert
            key={`${notice.changeRequestId} ${notice.isAfterAction}`}
            notice={notice}
            hasPassword={ways.hasPassword}
            undoneWithin={wasVerified ? undoneWithin : null}
          />
        )}
      </LiveRegion>
      {shown && (!isReplacing || shown.isUndeliverable) && (
        <PendingChange
          key={shown.changeRequestId}
          userId={userId}
          pending={shown}
          isOwn={isOwn}
          mailed={link?.change_request_id === shown.changeRequestId ? link : undefined}
          takesFocus={sent !== null || 'if-lost'}
          onVerified={(answer) =>
            say(shown, { outcome: isOwn ? 'verified' : 'changed', isNotified: answer.notification_sent })
          }
          onReplace={() => open('replacement')}
          onCancelled={() => say(shown, { outcome: 'cancelled' })}
          onCancelLost={() => setCancelling(shown.changeRequestId)}
          onEnded={({ code }) => {
            if (code === 'EMAIL_006') return say(shown, { outcome: 'replaced' })
            say(shown, { outcome: 'ended', title: code === 'EMAIL_005' ? 'attemptsTitle' : 'codeExpiredTitle' })
          }}
        />
      )}
      <CurrentAddress status={status}>
        {!shown && opened === 'verification' && needsProof && (
          <VerifyOwnAddress userId={userId} email={email} ways={ways} onSent={onSent} onCancel={() => open(null)} />
        )}
        {!shown && !opened && (
          <AddressChoices
            userId={userId}
            email={email}
            ways={ways}
            needsProof={needsProof}
            takesFocus={wasClosed && !notice}
            onAsk={open}
            onSent={onSent}
          />
        )}
      </CurrentAddress>
      <ChangeEmailForm
        userId={userId}
        currentEmail={email}
        ways={ways}
        isOpen={isChanging}
        isReplacing={shown !== null}
        canClose={!shown?.isUndeliverable}
        suggestion={canTryAgain ? notice.newEmail : shown && isChanging && !isOwn ? shown.newEmail : undefined}
        onFilled={onFilled}
        onClose={() => open(null)}
        onSent={(answer, replaced) => {
          onSent(answer)
          // The form says beforehand what becomes of a change that the page shows.
          if (replaced && replaced.changeRequestId !== shown?.changeRequestId)
            setNotice({ ...replaced, outcome: 'superseded', isAfterAction: false, isOwn: false })
        }}
      />
    </div>
  )
}

/** The notice about the change that ended last, in this or another browser. */
function useNotice(status: EmailStatus, sent: string | null, cancelling: string | null) {
  const [known, setKnown] = useState(status)
  const [notice, setNotice] = useState<Notice | null>(null)
  if (status !== known) {
    setKnown(status)
    const ended = noticeBetween(known, status, sent)
    const isSaid = ended?.changeRequestId === notice?.changeRequestId
    // A change that looked replaced may have been verified in another browser.
    const wasVerified = notice?.outcome === 'replaced' && ended?.outcome === 'changed'
    const wasCancelled = ended?.outcome === 'gone' && ended.changeRequestId === cancelling
    if (ended && (!isSaid || wasVerified)) setNotice(wasCancelled ? { ...ended, outcome: 'cancelled' } : ended)
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
  const { current_email: email, verified_at: verifiedAt } = status
  const [first] = useState(email)
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
            {/* The address that replaces another one under the reader's eyes comes in by a small movement. */}
            <bdi key={email} className={email === first ? undefined : 'inline-block animate-arrive'}>
              {email}
            </bdi>
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
