'use client'

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, CircleCheck, Link2Off, LogIn, MailCheck } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { ApiError } from '@/contract/errors'
import { call, callWith } from '../api/load-contract'
import { PressError } from '../api/press-error'
import { untilAnswered } from '../api/until-answered'
import { SlowHint } from '../forms/slow-hint'
import { IncompleteLink, ReadingLink } from '../session/link-page'
import { endOfLink } from '../session/link-secret'
import { signOutHere } from '../session/sign-out'
import { bold } from '../ui/bold'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { useTimeLeft } from '../ui/countdown'
import { serverNow, useServerTime } from '../ui/server-clock'
import { StatusCard } from '../ui/status-card'
import {
  type EmailStatus,
  emailStatusKey,
  isSameAddress,
  type Pending,
  pendingOf,
  useEmailStatus,
} from './email-status'
import { clearVerificationLink, useVerificationLink } from './use-verification-link'
import { fragmentOf, maskedAddressOf, type VerificationLink } from './verification-link'

interface Reader {
  userId: string
  name: string
  initialStatus: EmailStatus
}

interface VerifyEmailProps {
  reader: Reader | null
  renderedAt: string
  /** People sign in with the address of their account. */
  hasPasswordSignIn: boolean
  /** Says how long the old address can undo a change; null where it cannot. */
  undoneWithin: string | null
}

const signInPath = '/sign-in?next=/verify-email'

interface Done {
  answer: Answer<typeof verifyEmail>
  /** The account's own address was verified; it did not change. */
  isOwn: boolean
  /** The old address was verified, and so gets the link that undoes the change. */
  wasVerified: boolean
}

export function VerifyEmail({ reader, renderedAt, hasPasswordSignIn, undoneWithin }: VerifyEmailProps) {
  const t = useTranslations('VerifyEmail')
  const link = useVerificationLink()
  const [done, setDone] = useState<Done | 'replaced' | null>(null)
  if (done === 'replaced') return <Ended how="replaced" isAnnounced />
  if (done)
    return (
      <Finished {...done} hasPasswordSignIn={hasPasswordSignIn} undoneWithin={done.wasVerified ? undoneWithin : null} />
    )
  if (link === undefined) return <ReadingLink icon={MailCheck} title={t('tab')} />
  if (link === null) {
    const how = endOfLink()
    if (how) return <Ended how={how} />
    return (
      <IncompleteLink text={t('incompleteText')}>
        <ToSettings>{t('enterCode')}</ToSettings>
      </IncompleteLink>
    )
  }
  if (!reader)
    return (
      <IfStillOpen link={link}>
        <SignInFirst link={link} hasPasswordSignIn={hasPasswordSignIn} />
      </IfStillOpen>
    )
  return <Redeem link={link} reader={reader} renderedAt={renderedAt} onDone={setDone} />
}

interface RedeemProps {
  link: VerificationLink
  reader: Reader
  renderedAt: string
  /** `replaced`: a newer message has replaced this link, so another press would only use up one of its attempts. */
  onDone: (done: Done | 'replaced') => void
}

function Redeem({ link, reader, renderedAt, onDone }: RedeemProps) {
  const id = link.secret.change_request_id
  const status = useEmailStatus(reader.userId, reader.initialStatus, renderedAt, { changeRequestId: id })
  const pending = pendingOf(status)
  const [expiresAt, setExpiresAt] = useState<string>()
  const isHere = pending?.changeRequestId === id

  // The status no longer names a change that has expired.
  if (isHere && pending.expiresAt !== expiresAt) setExpiresAt(pending.expiresAt)
  if (isHere) return <Confirm link={link} reader={reader} pending={pending} status={status} onDone={onDone} />
  if (expiresAt && Date.parse(expiresAt) <= serverNow() + 1000) return <Ended how="expired" isAnnounced />
  const { change_request: request } = status
  if (request === null)
    return (
      <IfStillOpen link={link}>
        <OtherAccount link={link} email={status.current_email} />
      </IfStillOpen>
    )
  const end = ENDS.find((name) => name === request?.status)
  if (end) return <Ended how={end} email={request?.new_email} />
  // Not read yet, or the change was opened since the status was read.
  return <Checking />
}

function Checking() {
  const t = useTranslations('VerifyEmail')
  return (
    <StatusCard icon={MailCheck} title={t('tab')} text={t('checking')}>
      <ToSettings />
    </StatusCard>
  )
}

/** A link that has ended says so before it asks anybody to sign in. */
function IfStillOpen({ link, children }: { link: VerificationLink; children: ReactNode }) {
  const { change_request_id: changeRequestId } = link.secret
  const { data, error } = useQuery({
    queryKey: ['email-change', changeRequestId],
    queryFn: () => callWith(() => '', 'getEmailChange', { changeRequestId }),
    retry: false,
  })
  if (error instanceof ApiError && error.code === 'EMAIL_006') return <Ended how="gone" />
  // What nobody could read is left to the page after the sign-in.
  if (error) return children
  if (!data) return <Checking />
  const end = ENDS.find((name) => name === data.status)
  if (!end) return children
  return <Ended how={end === 'verified' ? 'spent' : end} />
}

interface ConfirmProps extends Omit<RedeemProps, 'renderedAt'> {
  pending: Pending
  status: EmailStatus
}

function Confirm({ link, reader, pending, status, onDone }: ConfirmProps) {
  const t = useTranslations('VerifyEmail')
  const router = useRouter()
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: emailStatusKey(reader.userId) })
  const { current_email: currentEmail, email_verified: wasVerified } = status
  const isOwn = isSameAddress(pending.newEmail, currentEmail)
  const verify = useMutation({
    mutationFn: () => untilAnswered((options) => call('verifyEmail', { userId: reader.userId }, link.secret, options)),
    onSuccess: (answer) => {
      clearVerificationLink()
      onDone({ answer, isOwn, wasVerified })
      router.refresh()
      return refresh()
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'EMAIL_003') {
        clearVerificationLink('replaced')
        onDone('replaced')
      }
      return refresh()
    },
  })
  const isOver = useServerTime() >= Date.parse(pending.expiresAt)
  const time = useTimeLeft(pending.expiresAt)

  return (
    <StatusCard
      icon={MailCheck}
      title={t(isOwn ? 'confirmTitleOwn' : 'confirmTitle')}
      text={t.rich(isOwn ? 'confirmOwnText' : 'confirmText', { name: () => bold(reader.name) })}
    >
      <dl className="rounded-xl border border-line">
        <div className="px-4 py-3">
          <dt className="text-ink-muted text-sm">{t('current')}</dt>
          <dd className="wrap-anywhere">
            <bdi>{currentEmail}</bdi>
          </dd>
        </div>
        {!isOwn && (
          <div className="relative border-line border-t px-4 py-3">
            <dt className="text-ink-muted text-sm">{t('new')}</dt>
            <dd className="wrap-anywhere font-medium">
              <bdi>{pending.newEmail}</bdi>
            </dd>
            <span
              className="absolute -top-3 end-4 grid size-6 place-items-center rounded-full border border-line bg-surface"
              aria-hidden
            >
              <ArrowDown className="size-3.5 text-ink-muted" />
            </span>
          </div>
        )}
      </dl>
      <PressError error={verify.error} />
      <Button className="w-full" disabled={isOver} isPending={verify.isPending} onClick={() => verify.mutate()}>
        {t(isOwn ? 'confirmOwn' : 'confirm')}
      </Button>
      <SlowHint isPending={verify.isPending} />
      <p className="text-ink-muted text-sm tabular-nums">{t('linkTime', { time })}</p>
    </StatusCard>
  )
}

type FinishedProps = Omit<Done, 'wasVerified'> & Pick<VerifyEmailProps, 'hasPasswordSignIn' | 'undoneWithin'>

function Finished({ answer, isOwn, hasPasswordSignIn, undoneWithin }: FinishedProps) {
  const t = useTranslations('VerifyEmail')
  const address = () => bold(answer.new_email)
  const changedText = answer.notification_sent ? 'changedText' : 'changedTextSoon'
  const changed = hasPasswordSignIn ? changedText : 'changedElsewhereText'
  return (
    <StatusCard
      icon={CircleCheck}
      tone="success"
      isAnnounced
      title={t(isOwn ? 'verifiedTitle' : 'changedTitle')}
      text={
        isOwn ? (
          t.rich('verifiedOwnText', { address })
        ) : (
          <>
            {t.rich(changed, { address })} {undoneWithin}
          </>
        )
      }
    >
      <ToSettings />
    </StatusCard>
  )
}

function SignInFirst({
  link,
  hasPasswordSignIn,
}: { link: VerificationLink } & Pick<VerifyEmailProps, 'hasPasswordSignIn'>) {
  const t = useTranslations('VerifyEmail')
  const address = maskedAddressOf(link)
  const kind = link.isOwn ? ('Own' as const) : ('' as const)
  const text = address
    ? t.rich(`signInAs${kind}Text`, { masked: address, address: bold })
    : t.rich(`signIn${kind}Text`, { strong: bold })
  return (
    <StatusCard icon={LogIn} title={t('signInTitle')} text={hasPasswordSignIn ? text : t('signInElsewhereText')}>
      <p className="text-ink-muted">{t('codeInstead')}</p>
      <Button className="w-full" onClick={() => window.location.assign(signInPath + fragmentOf(link))}>
        {t('signIn')}
      </Button>
      <p className="text-ink-muted text-sm">{t('signInNote')}</p>
    </StatusCard>
  )
}

/** The ends of one's own change request that the status can tell. */
const ENDS = ['verified', 'expired', 'exhausted', 'superseded', 'cancelled', 'reverted'] as const

/** The tones of good ends. */
const GOOD = { verified: 'success', spent: 'accent' } as const

interface EndedProps {
  how: (typeof ENDS)[number] | 'replaced' | 'spent' | 'gone'
  /** The new address, for `verified`. */
  email?: string | undefined
  /** It has ended while the page was open. */
  isAnnounced?: boolean
}

function Ended({ how, email, isAnnounced = false }: EndedProps) {
  const t = useTranslations('VerifyEmail')
  const isGood = how === 'verified' || how === 'spent'
  return (
    <StatusCard
      icon={isGood ? CircleCheck : Link2Off}
      tone={isGood ? GOOD[how] : 'warning'}
      isAnnounced={isAnnounced}
      title={t(`${how}Title`)}
      text={t.rich(`${how}Text`, { address: () => bold(email ?? '') })}
    >
      <ToSettings>{how === 'replaced' && t('enterCode')}</ToSettings>
    </StatusCard>
  )
}

function OtherAccount({ link, email }: { link: VerificationLink; email: string }) {
  const t = useTranslations('VerifyEmail')
  const leave = useMutation({ mutationFn: () => signOutHere(signInPath + fragmentOf(link)) })
  const masked = maskedAddressOf(link)
  const address = () => bold(email)
  return (
    <StatusCard
      icon={Link2Off}
      tone="warning"
      title={t('otherTitle')}
      text={masked ? t.rich('otherAsText', { masked, as: bold, address }) : t.rich('otherText', { address })}
    >
      <p className="text-ink-muted">{t('codeInstead')}</p>
      <Button className="w-full" isPending={leave.isPending} onClick={() => leave.mutate()}>
        {t('otherAccount')}
      </Button>
      <PressError error={leave.error} />
      <p className="text-ink-muted text-sm">{t('signInNote')}</p>
    </StatusCard>
  )
}

function ToSettings({ children }: { children?: ReactNode }) {
  const t = useTranslations('VerifyEmail')
  return (
    <Link href="/settings/email" className={buttonStyle({ className: 'w-full' })}>
      {children || t('toSettings')}
    </Link>
  )
}
