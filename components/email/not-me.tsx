'use client'

import { useMutation } from '@tanstack/react-query'
import { CircleCheck, ShieldAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { useDeviceName } from '../access/device-name'
import { useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { keepDraft, SIGN_IN } from '../forms/draft'
import { Form } from '../forms/form'
import { NewPasswordField, type NewPasswordRules } from '../password/new-password-field'
import { LinkPage } from '../session/link-page'
import { bold } from '../ui/bold'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { Disclosure } from '../ui/disclosure'
import { ErrorAlert } from '../ui/error-alert'
import { CheckboxField } from '../ui/field'
import { linkTo } from '../ui/link-to'
import { LocalTime } from '../ui/local-time'
import { mailLink } from '../ui/mail-link'
import { serverNow } from '../ui/server-clock'
import { StatusCard } from '../ui/status-card'
import type { NotMeValues } from './email-rules'
import { type ChangeLink, clearNotMeLink, type SignInLink, useNotMeLink } from './not-me-link'

interface NotMeProps {
  supportEmail: string
  hasPasswordSignIn: boolean
  rules: NewPasswordRules
  /** How long an undone change holds a deletion back; null where it does not. */
  heldFor: string | null
}

/** What the link of a message about a change, or about a sign-in, opens. Nothing is changed before the form is sent. */
export function NotMe({ supportEmail, hasPasswordSignIn, rules, heldFor }: NotMeProps) {
  const t = useTranslations('NotMe')
  const secret = useNotMeLink()
  const [done, setDone] = useState<DoneProps>()
  if (done) return <Done {...done} />
  return (
    <LinkPage
      icon={ShieldAlert}
      title={t('tabTitle')}
      secret={secret}
      read={async (link) => ('sessionId' in link ? readSignIn(link) : readChange(link))}
      isRefused={isRefused}
      noLongerText={t(secret && 'sessionId' in secret ? 'signInNoLonger' : 'noLongerText')}
      wayOut={(link) => <WayOut {...{ link, supportEmail, hasPasswordSignIn }} />}
    >
      {(facts, { end }) => {
        const page = { rules, onRefused: end, onDone: setDone }
        return 'signIn' in facts ? <Disown {...facts} {...page} /> : <TakeBack {...facts} heldFor={heldFor} {...page} />
      }}
    </LinkPage>
  )
}

const readChange = async ({ changeRequestId, token }: ChangeLink) => ({
  change: await callWith(() => token, 'getNotMe', { changeRequestId }),
  undo: (body: NewPassword) => callWith(() => token, 'undoEmailChange', { changeRequestId }, body),
})

const readSignIn = async ({ sessionId, token }: SignInLink) => ({
  signIn: await callWith(() => token, 'getSignIn', { sessionId }),
  disown: (body: NewPassword) => callWith(() => token, 'disownSignIn', { sessionId }, body),
})

const isRefused = (error: unknown) => error instanceof ApiError && ['EMAIL_006', 'AUTH_001'].includes(error.code)

interface WayOutProps extends Pick<NotMeProps, 'supportEmail' | 'hasPasswordSignIn'> {
  link: 'incomplete' | 'noLonger'
}

function WayOut({ link, supportEmail, hasPasswordSignIn }: WayOutProps) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  return (
    <>
      {link === 'noLonger' && (
        <a href="/sign-in" className={buttonStyle({ className: 'w-full' })}>
          {common('signIn')}
        </a>
      )}
      {link === 'noLonger' && hasPasswordSignIn && (
        <p className="text-ink-muted text-sm">{t.rich('noLongerReset', { link: linkTo('/forgot-password') })}</p>
      )}
      <p className="text-ink-muted text-sm">
        {t.rich(link === 'noLonger' ? 'noLongerSupport' : 'incompleteSupport', mailLink(supportEmail))}
      </p>
    </>
  )
}

type PageProps = Pick<SecureCardProps, 'rules' | 'onRefused' | 'onDone'>
type TakeBackProps = Awaited<ReturnType<typeof readChange>> & PageProps & Pick<NotMeProps, 'heldFor'>

function TakeBack({ change, undo, heldFor, ...page }: TakeBackProps) {
  const t = useTranslations('NotMe')
  const nameOf = useDeviceName()
  const isVerified = change.status === 'verified'
  // Read once when the page opens, so that the form stays as it is.
  const [hasEnded] = useState(() => !change.can_be_verified || Date.parse(change.expires_at) <= serverNow())
  const kind = isVerified ? 'undo' : hasEnded ? 'secure' : 'stop'
  return (
    <SecureCard
      {...page}
      title={t(`${kind}Title`)}
      text={t(`${kind}Text`)}
      facts={
        <>
          <Fact label={t(isVerified ? 'oldAddress' : 'currentAddress')}>{change.old_email}</Fact>
          <Fact label={t('newAddress')}>{change.changed_to ?? change.new_email}</Fact>
        </>
      }
      origin={
        <>
          <Fact label={t(isVerified ? 'changed' : 'requested')}>
            <LocalTime dateTime={change.changed_at ?? change.requested_at} />
          </Fact>
          {change.user_agent && <Fact label={t('device')}>{nameOf(change.user_agent)}</Fact>}
          <Fact label={t('ipAddress')}>{change.ip_address || '–'}</Fact>
        </>
      }
      firstEffect={t.rich(`${kind}Effect`, { address: change.old_email, email: bold })}
      lastEffect={isVerified && heldFor}
      email={change.old_email}
      hasPassword={change.has_password}
      sure={t('sure')}
      label={t(kind)}
      worksUntil={change.works_until}
      send={async (body) => {
        const { status, email } = await undo(body)
        return { title: t(status === 'reverted' ? 'undone' : 'stopped'), email }
      }}
    />
  )
}

function Disown({ signIn, disown, ...page }: Awaited<ReturnType<typeof readSignIn>> & PageProps) {
  const t = useTranslations('NotMe')
  const nameOf = useDeviceName()
  const { has_password: hasPassword, email } = signIn
  return (
    <SecureCard
      {...page}
      title={t('signInTitle')}
      text={t(hasPassword ? 'signInText' : 'signInTextWithoutPassword')}
      facts={
        <>
          <Fact label={t('signedInAt')}>
            <LocalTime dateTime={signIn.signed_in_at} />
          </Fact>
          <Fact label={t('device')}>{nameOf(signIn.user_agent)}</Fact>
          <Fact label={t('ipAddress')}>{signIn.ip_address || '–'}</Fact>
        </>
      }
      lastEffect={t('pendingEffect')}
      email={email}
      hasPassword={hasPassword}
      sure={t('signInSure')}
      label={t('signInSecure')}
      worksUntil={signIn.works_until}
      send={async (body) => {
        await disown(body)
        return { title: t('signInDone'), email }
      }}
    />
  )
}

type NewPassword = Partial<Pick<NotMeValues, 'new_password'>>

interface SecureCardProps {
  title: string
  text: string
  facts: ReactNode
  /** When and from where it was done, where other facts say more. */
  origin?: ReactNode
  /** What else happens, before and after what always does. */
  firstEffect?: ReactNode
  lastEffect?: ReactNode
  rules: NewPasswordRules
  email: string
  hasPassword: boolean
  /** What a person without a password confirms. */
  sure: string
  label: string
  worksUntil: string
  /** Returns what the page says then, and the account's address. */
  send: (body: NewPassword) => Promise<Pick<DoneProps, 'title' | 'email'>>
  onRefused: () => void
  onDone: (done: DoneProps) => void
}

const resolvers = {
  password: rulesOf<NotMeValues>((all) => all.notMeRules.password),
  none: rulesOf<NotMeValues>((all) => all.notMeRules.none),
}

/** What happened, what the form does, and the form. */
function SecureCard(props: SecureCardProps) {
  const { email, hasPassword, firstEffect, lastEffect } = props
  const t = useTranslations('NotMe')
  const { fieldOf, showError } = useErrorTexts()
  const form = useForm<NotMeValues>({ resolver: resolvers[hasPassword ? 'password' : 'none'] })
  const { mutateAsync } = useMutation({
    mutationFn: ({ new_password }: NotMeValues) => props.send(hasPassword ? { new_password } : {}),
    onSuccess: (done) => {
      clearNotMeLink()
      props.onDone({ ...done, hadPassword: hasPassword })
    },
    onError: (error) => (isRefused(error) ? props.onRefused() : showError(form, error)),
  })
  const { errors, isSubmitting } = form.formState
  return (
    <StatusCard icon={ShieldAlert} tone="warning" title={props.title} text={props.text}>
      <dl className="divide-y divide-line rounded-xl border border-line">{props.facts}</dl>
      <div>
        <h2 className="font-medium">{t('effects')}</h2>
        <ul className="mt-1.5 list-disc space-y-1 ps-5 text-ink-muted">
          {firstEffect && <li>{firstEffect}</li>}
          <li>{t('signedOutEffect')}</li>
          {hasPassword && <li>{t('passwordEffect')}</li>}
          {lastEffect && <li>{lastEffect}</li>}
        </ul>
      </div>
      <Form className="space-y-5" onSubmit={form.handleSubmit((values) => mutateAsync(values).catch(() => {}))}>
        {hasPassword ? (
          <>
            {/* Tells a password manager whose password it is. */}
            <input type="text" autoComplete="username" value={email} readOnly hidden />
            <NewPasswordField
              rules={props.rules}
              typed={form.watch('new_password')}
              {...fieldOf(form, 'new_password')}
            />
          </>
        ) : (
          <CheckboxField label={props.sure} {...fieldOf(form, 'sure')} />
        )}
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
        <Button type="submit" className="w-full" isPending={isSubmitting}>
          {props.label}
        </Button>
      </Form>
      <p className="text-ink-muted text-sm">
        {t.rich('worksUntil', { date: () => <LocalTime dateTime={props.worksUntil} /> })}
      </p>
      {props.origin && (
        <Disclosure summary={t('origin')}>
          <dl className="mt-1 divide-y divide-line rounded-xl border border-line">{props.origin}</dl>
        </Disclosure>
      )}
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

interface DoneProps {
  title: string
  email: string
  hadPassword: boolean
}

function Done({ title, email, hadPassword }: DoneProps) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  return (
    <StatusCard
      icon={CircleCheck}
      tone="success"
      isAnnounced
      title={title}
      text={
        <>
          {t.rich('addressNow', { address: email, email: bold })} {t(hadPassword ? 'signInWithNew' : 'signInAgain')}
        </>
      }
    >
      <a
        href="/sign-in"
        className={buttonStyle({ className: 'w-full' })}
        onClick={() => hadPassword && keepDraft(SIGN_IN, '', { email })}
      >
        {common('signIn')}
      </a>
      <p className="text-ink-muted text-sm">{t('lookThrough')}</p>
    </StatusCard>
  )
}
