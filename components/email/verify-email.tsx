'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, CircleCheck, Link2Off, LogIn, MailCheck } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { Answer } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { ApiError } from '@/contract/errors'
import { errorText } from '../error-text'
import { call } from '../load-contract'
import { signOutHere } from '../sign-out'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { Countdown } from '../ui/countdown'
import { ErrorAlert } from '../ui/error-alert'
import { serverNow, useServerTime } from '../ui/server-clock'
import { StatusCard } from '../ui/status-card'
import { type EmailStatus, emailStatusKey, type Pending, pendingOf, useEmailStatus } from './email-status'
import { clearLinkSecret, fragmentOf, isSpent, type LinkSecret, useLinkSecret } from './link-secret'

interface Reader {
  userId: string
  name: string
  initialStatus: EmailStatus
}

interface VerifyEmailProps {
  reader: Reader | null
  renderedAt: string
}

const signInPath = '/sign-in?next=/verify-email'
const wide = 'w-full'

export function VerifyEmail({ reader, renderedAt }: VerifyEmailProps) {
  const secret = useLinkSecret()
  const [done, setDone] = useState<Answer<typeof verifyEmail> | null>(null)
  if (done) return <Changed answer={done} />
  if (secret === undefined) return <Reading />
  if (secret === null) return isSpent() ? <Spent /> : <NoSecret />
  if (!reader) return <SignInFirst secret={secret} />
  return <Redeem secret={secret} reader={reader} renderedAt={renderedAt} onDone={setDone} />
}

interface RedeemProps {
  secret: LinkSecret
  reader: Reader
  renderedAt: string
  onDone: (answer: Answer<typeof verifyEmail>) => void
}

function Redeem({ secret, reader, renderedAt, onDone }: RedeemProps) {
  const status = useEmailStatus(reader.userId, reader.initialStatus, renderedAt)
  const pending = pendingOf(status)
  const isHere = pending?.changeRequestId === secret.change_request_id
  const [expiresAt, setExpiresAt] = useState<string>()
  const [isReplaced, setReplaced] = useState(false)

  // The status no longer names a change that has expired.
  if (isHere && pending.expiresAt !== expiresAt) setExpiresAt(pending.expiresAt)
  if (isReplaced) return <Replaced />
  if (!isHere && expiresAt && Date.parse(expiresAt) <= serverNow() + 1000) return <Expired />
  if (!isHere) return <NotThisAccount secret={secret} status={status} />
  return (
    <Confirm
      secret={secret}
      reader={reader}
      pending={pending}
      currentEmail={status.current_email}
      renderedAt={renderedAt}
      onDone={onDone}
      onReplaced={() => setReplaced(true)}
    />
  )
}

interface ConfirmProps extends RedeemProps {
  pending: Pending
  currentEmail: string
  /** A newer message has replaced this link, so another press would only use up one of its attempts. */
  onReplaced: () => void
}

function Confirm({ secret, reader, pending, currentEmail, renderedAt, onDone, onReplaced }: ConfirmProps) {
  const router = useRouter()
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: emailStatusKey(reader.userId) })
  const verify = useMutation({
    mutationFn: () => call('verifyEmail', { userId: reader.userId }, secret),
    onSuccess: (answer) => {
      clearLinkSecret()
      onDone(answer)
      router.refresh()
      return refresh()
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'EMAIL_003') onReplaced()
      return refresh()
    },
  })
  const isOver = useServerTime(renderedAt) >= Date.parse(pending.expiresAt)

  return (
    <StatusCard
      heading="h1"
      icon={MailCheck}
      title="Verify your new address"
      text={
        <>
          This moves the account of <span className="wrap-anywhere font-medium text-ink">{reader.name}</span> to a new
          email address.
        </>
      }
    >
      <dl className="rounded-xl border border-line">
        <div className="px-4 py-3">
          <dt className="text-ink-muted text-sm">Current address</dt>
          <dd className="wrap-anywhere">{currentEmail}</dd>
        </div>
        <div className="relative border-line border-t px-4 py-3">
          <dt className="text-ink-muted text-sm">New address</dt>
          <dd className="wrap-anywhere font-medium">{pending.newEmail}</dd>
          <span
            className="absolute -top-3 right-4 grid size-6 place-items-center rounded-full border border-line bg-surface"
            aria-hidden
          >
            <ArrowDown className="size-3.5 text-ink-muted" />
          </span>
        </div>
      </dl>
      <ErrorAlert>{verify.error ? errorText(verify.error) : undefined}</ErrorAlert>
      <Button className={wide} disabled={isOver} pending={verify.isPending} onClick={() => verify.mutate()}>
        Verify my new address
      </Button>
      <p className="text-ink-muted text-sm">
        The link works for another <Countdown until={pending.expiresAt} renderedAt={renderedAt} />. Not yours? Close
        this page: nothing changes until you press the button.
      </p>
    </StatusCard>
  )
}

function Changed({ answer }: { answer: Answer<typeof verifyEmail> }) {
  return (
    <StatusCard
      heading="h1"
      icon={CircleCheck}
      tone="success"
      announce
      title="Your email address has been changed"
      text={
        <>
          It is now <span className="wrap-anywhere font-medium text-ink">{answer.new_email}</span>. Sign in with it from
          now on. Your old address {answer.notification_sent ? 'was' : 'will be'} told about the change.
        </>
      }
    >
      <ToSettings />
    </StatusCard>
  )
}

function SignInFirst({ secret }: { secret: LinkSecret }) {
  return (
    <StatusCard
      heading="h1"
      icon={LogIn}
      title="Sign in to verify your address"
      text="Only the owner of the account can confirm its new address. Sign in, and we bring you back to this link."
    >
      <Button className={wide} onClick={() => window.location.assign(signInPath + fragmentOf(secret))}>
        Sign in to continue
      </Button>
      <p className="text-ink-muted text-sm">
        Did you not ask for this? Close this page: nothing changes, and the link expires by itself.
      </p>
    </StatusCard>
  )
}

function Replaced() {
  return (
    <StatusCard
      heading="h1"
      icon={Link2Off}
      tone="warning"
      announce
      title="This link was replaced by a newer message"
      text="Open the link in the newest one, or enter its 6-digit code in the settings."
    >
      <ToSettings>Enter the code in settings</ToSettings>
    </StatusCard>
  )
}

function Expired() {
  return (
    <StatusCard
      heading="h1"
      icon={Link2Off}
      tone="warning"
      announce
      title="This link has expired"
      text="Your current address stays. To try again, start a new change in the settings."
    >
      <ToSettings />
    </StatusCard>
  )
}

function Spent() {
  return (
    <StatusCard
      heading="h1"
      icon={CircleCheck}
      title="This link has been used"
      text="It has done its work: your address was changed. The settings show the one that you sign in with."
    >
      <ToSettings />
    </StatusCard>
  )
}

function NotThisAccount({ secret, status }: { secret: LinkSecret; status: EmailStatus }) {
  const leave = useMutation({ mutationFn: () => signOutHere(signInPath + fragmentOf(secret)) })
  return (
    <StatusCard
      heading="h1"
      icon={Link2Off}
      tone="warning"
      title="This link does not work here"
      text={
        <>
          It is for another account than the one signed in (
          <span className="wrap-anywhere font-medium text-ink">{status.current_email}</span>), or it is no longer valid:
          used, expired, cancelled, or replaced by a newer change.
        </>
      }
    >
      <ToSettings>See what is pending in settings</ToSettings>
      <Button variant="secondary" className={wide} pending={leave.isPending} onClick={() => leave.mutate()}>
        Sign in to another account
      </Button>
      <ErrorAlert>{leave.error ? errorText(leave.error) : undefined}</ErrorAlert>
    </StatusCard>
  )
}

function NoSecret() {
  return (
    <StatusCard
      heading="h1"
      icon={Link2Off}
      tone="warning"
      title="This link is not complete"
      text="The part after the # is missing or damaged. Open the link from the message once more, or copy it whole into the address bar. The 6-digit code of the same message works in the settings."
    >
      <ToSettings>Enter the code in settings</ToSettings>
    </StatusCard>
  )
}

function Reading() {
  return (
    <StatusCard heading="h1" icon={MailCheck} title="Verify your new address" text="Reading the link…">
      <noscript>
        <p>
          This page needs JavaScript to read the link. Without it, enter the 6-digit code of the same message with the
          API.
        </p>
      </noscript>
    </StatusCard>
  )
}

const ToSettings = ({ children = 'Go to settings' }: { children?: string }) => (
  <Link href="/settings/email" className={buttonStyle({ className: wide })}>
    {children}
  </Link>
)
