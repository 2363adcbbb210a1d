'use client'

import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, Link2Off, ShieldAlert, WifiOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { getNotMe, undoEmailChange } from '@/contract/email'
import { ApiError } from '@/contract/errors'
import { useErrorTexts } from '../api/error-texts'
import { callWith, preloadContract, rulesOf } from '../api/load-contract'
import { NewPasswordFields } from '../password/new-password-fields'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { ErrorAlert } from '../ui/error-alert'
import { CheckboxField } from '../ui/field'
import { LocalTime } from '../ui/local-time'
import { mailLink } from '../ui/mail-link'
import { serverNow } from '../ui/server-clock'
import { StatusCard } from '../ui/status-card'
import type { NotMeValues } from './email-rules'
import { clearNotMeLink, type NotMeLink, useNotMeLink } from './not-me-link'

interface NotMeProps {
  supportEmail: string
}

type Change = Answer<typeof getNotMe>
type Undone = Answer<typeof undoEmailChange>

const wide = 'w-full'

type End = 'dead' | { undone: Undone; hadPassword: boolean }

/** What the link of a message to the old address opens. Nothing is changed before the form is sent. */
export function NotMe({ supportEmail }: NotMeProps) {
  const link = useNotMeLink()
  const [end, setEnd] = useState<End>()
  if (end === 'dead') return <Dead supportEmail={supportEmail} />
  if (end) return <Done {...end} />
  if (link === undefined) return <Reading />
  if (link === null) return <Incomplete supportEmail={supportEmail} />
  return <OpenedLink link={link} supportEmail={supportEmail} onEnd={setEnd} />
}

function OpenedLink({ link, supportEmail, onEnd }: NotMeProps & { link: NotMeLink; onEnd: (end: End) => void }) {
  const { changeRequestId, token } = link
  const change = useQuery({
    queryKey: ['not-me', changeRequestId, token],
    queryFn: () => callWith(() => token, 'getNotMe', { changeRequestId }),
    retry: false,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  if (isDead(change.error)) return <Dead supportEmail={supportEmail} />
  if (change.data) return <Form change={change.data} link={link} onEnd={onEnd} />
  if (change.error)
    return <Unread error={change.error} isPending={change.isFetching} onRetry={() => change.refetch()} />
  return <Reading />
}

const isDead = (error: unknown) => error instanceof ApiError && ['EMAIL_006', 'AUTH_001'].includes(error.code)

interface FormProps {
  change: Change
  link: NotMeLink
  onEnd: (end: End) => void
}

const rules = {
  password: rulesOf<NotMeValues>((all) => all.notMeRules.password),
  none: rulesOf<NotMeValues>((all) => all.notMeRules.none),
}

function Form({ change, link, onEnd }: FormProps) {
  const t = useTranslations('NotMe')
  const { fieldText, showError } = useErrorTexts()
  const isVerified = change.status === 'verified'
  // At opening, so that the form stays as it is.
  const [hasExpired] = useState(() => !isVerified && Date.parse(change.expires_at) <= serverNow())
  const kind = isVerified ? 'undo' : hasExpired ? 'secure' : 'stop'
  const form = useForm<NotMeValues>({ resolver: rules[change.has_password ? 'password' : 'none'] })
  const { errors } = form.formState
  const undo = useMutation({
    mutationFn: ({ new_password }: NotMeValues) => {
      const { changeRequestId, token } = link
      const body = change.has_password ? { new_password } : {}
      return callWith(() => token, 'undoEmailChange', { changeRequestId }, body)
    },
    onSuccess: (answer) => {
      clearNotMeLink()
      onEnd({ undone: answer, hadPassword: change.has_password })
    },
    onError: (error) => {
      if (isDead(error)) return onEnd('dead')
      showError(form, error)
    },
  })
  return (
    <StatusCard heading="h1" icon={ShieldAlert} tone="warning" title={t(`${kind}Title`)} text={t(`${kind}Text`)}>
      <dl className="divide-y divide-line rounded-xl border border-line">
        <Fact label={t(isVerified ? 'oldAddress' : 'currentAddress')}>{change.old_email}</Fact>
        <Fact label={t('newAddress')}>{change.new_email}</Fact>
        <Fact label={t(isVerified ? 'changed' : 'requested')}>
          <LocalTime dateTime={change.changed_at ?? change.requested_at} />
        </Fact>
        <Fact label={t('ipAddress')}>{change.ip_address || '–'}</Fact>
      </dl>
      <div>
        <h2 className="font-medium">{t('effects')}</h2>
        <ul className="mt-1.5 list-disc space-y-1 ps-5 text-ink-muted">
          <li>
            {t.rich(`${kind}Effect`, {
              address: change.old_email,
              email: (text) => <bdi className="wrap-anywhere text-ink">{text}</bdi>,
            })}
          </li>
          <li>{t('signedOutEffect')}</li>
          {change.has_password && <li>{t('passwordEffect')}</li>}
        </ul>
      </div>
      <form
        method="post"
        noValidate
        className="space-y-5"
        onFocus={preloadContract}
        onSubmit={form.handleSubmit((values) => undo.mutateAsync(values).catch(() => {}))}
      >
        {change.has_password ? (
          <>
            {/* Tells a password manager whose password it is. */}
            <input type="text" autoComplete="username" value={change.old_email} readOnly hidden />
            <NewPasswordFields
              password={{ error: fieldText(errors.new_password), ...form.register('new_password') }}
              repeated={{ error: fieldText(errors.repeated), ...form.register('repeated') }}
            />
          </>
        ) : (
          <CheckboxField label={t('sure')} error={fieldText(errors.sure)} {...form.register('sure')} />
        )}
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
        <Button type="submit" className={wide} isPending={form.formState.isSubmitting}>
          {t(kind)}
        </Button>
      </form>
      <p className="text-ink-muted text-sm">
        {t.rich('worksUntil', { date: () => <LocalTime dateTime={change.works_until} /> })}
      </p>
    </StatusCard>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="px-4 py-2.5">
    <dt className="text-ink-muted text-sm">{label}</dt>
    <dd className="wrap-anywhere">
      <bdi>{children}</bdi>
    </dd>
  </div>
)

function Done({ undone, hadPassword }: { undone: Undone; hadPassword: boolean }) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  const isReverted = undone.status === 'reverted'
  return (
    <StatusCard
      heading="h1"
      icon={CircleCheck}
      tone="success"
      isAnnounced
      title={t(isReverted ? 'undone' : 'stopped')}
      text={
        <>
          {t.rich('addressNow', {
            address: undone.email,
            email: (text) => <bdi className="wrap-anywhere font-medium text-ink">{text}</bdi>,
          })}{' '}
          {t(hadPassword ? 'signInWithNew' : 'signInAgain')}
        </>
      }
    >
      <a href="/sign-in" className={buttonStyle({ className: wide })}>
        {common('signIn')}
      </a>
      <p className="text-ink-muted text-sm">{t('lookThrough')}</p>
    </StatusCard>
  )
}

function Dead({ supportEmail }: { supportEmail: string }) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  return (
    <StatusCard heading="h1" icon={Link2Off} tone="warning" isAnnounced title={t('deadTitle')} text={t('deadText')}>
      <a href="/sign-in" className={buttonStyle({ className: wide })}>
        {common('signIn')}
      </a>
      <Support text="deadSupport" address={supportEmail} />
    </StatusCard>
  )
}

function Incomplete({ supportEmail }: { supportEmail: string }) {
  const t = useTranslations('NotMe')
  return (
    <StatusCard heading="h1" icon={Link2Off} tone="warning" title={t('incompleteTitle')} text={t('incompleteText')}>
      <Support text="incompleteSupport" address={supportEmail} />
    </StatusCard>
  )
}

function Unread({ error, isPending, onRetry }: { error: Error; isPending: boolean; onRetry: () => void }) {
  const t = useTranslations('NotMe')
  const { errorText } = useErrorTexts()
  return (
    <StatusCard heading="h1" icon={WifiOff} tone="warning" title={t('unreadTitle')} text={errorText(error)}>
      <Button className={wide} isPending={isPending} onClick={onRetry}>
        {t('tryAgain')}
      </Button>
    </StatusCard>
  )
}

function Reading() {
  const t = useTranslations('NotMe')
  return (
    <StatusCard heading="h1" icon={ShieldAlert} title={t('tabTitle')} text={t('reading')}>
      <noscript>
        <p>{t('noScript')}</p>
      </noscript>
    </StatusCard>
  )
}

interface SupportProps {
  text: 'deadSupport' | 'incompleteSupport'
  address: string
}

function Support({ text, address }: SupportProps) {
  const t = useTranslations('NotMe')
  return <p className="text-ink-muted text-sm">{t.rich(text, mailLink(address))}</p>
}
