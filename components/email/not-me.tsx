'use client'

import { useMutation } from '@tanstack/react-query'
import { CircleCheck, ShieldAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { getSignIn } from '@/contract/access'
import type { Answer } from '@/contract/define'
import type { getNotMe } from '@/contract/email'
import { ApiError } from '@/contract/errors'
import { useDeviceName } from '../access/device-name'
import { useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { Form } from '../forms/form'
import { NewPasswordFields, type NewPasswordRules } from '../password/new-password-fields'
import { LinkPage } from '../session/link-page'
import { bold } from '../ui/bold'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { ErrorAlert } from '../ui/error-alert'
import { CheckboxField } from '../ui/field'
import { LocalTime } from '../ui/local-time'
import { mailLink } from '../ui/mail-link'
import { serverNow } from '../ui/server-clock'
import { StatusCard } from '../ui/status-card'
import type { NotMeValues } from './email-rules'
import { type ChangeLink, clearNotMeLink, type SignInLink, useNotMeLink } from './not-me-link'

type Change = Answer<typeof getNotMe>

interface NotMeProps {
  supportEmail: string
  rules: NewPasswordRules
  /** How long an undone change holds a deletion back; null where it does not. */
  heldFor: string | null
}

/** What the link of a message about a change, or about a sign-in, opens. Nothing is changed before the form is sent. */
export function NotMe(props: NotMeProps) {
  const secret = useNotMeLink()
  const [done, setDone] = useState<DoneProps>()
  if (done) return <Done {...done} />
  return secret && 'sessionId' in secret ? (
    <SignInLinkPage {...props} secret={secret} onDone={setDone} />
  ) : (
    <ChangeLinkPage {...props} secret={secret} onDone={setDone} />
  )
}

interface LinkProps<Secret> extends NotMeProps {
  secret: Secret
  onDone: (done: DoneProps) => void
}

function ChangeLinkPage({ secret, rules, heldFor, supportEmail, onDone }: LinkProps<ChangeLink | null | undefined>) {
  const t = useTranslations('NotMe')
  return (
    <LinkPage
      icon={ShieldAlert}
      title={t('tabTitle')}
      secret={secret}
      read={({ changeRequestId, token }) => callWith(() => token, 'getNotMe', { changeRequestId })}
      isRefused={isRefused}
      noLongerText={t('noLongerText')}
      wayOut={(link) => <WayOut link={link} supportEmail={supportEmail} />}
    >
      {(change, link) => (
        <TakeBackForm
          change={change}
          rules={rules}
          heldFor={heldFor}
          link={link.secret}
          onRefused={link.end}
          onDone={onDone}
        />
      )}
    </LinkPage>
  )
}

function SignInLinkPage({ secret, rules, supportEmail, onDone }: LinkProps<SignInLink>) {
  const t = useTranslations('NotMe')
  return (
    <LinkPage
      icon={ShieldAlert}
      title={t('tabTitle')}
      secret={secret}
      read={({ sessionId, token }) => callWith(() => token, 'getSignIn', { sessionId })}
      isRefused={isRefused}
      noLongerText={t('signInNoLonger')}
      wayOut={(link) => <WayOut link={link} supportEmail={supportEmail} />}
    >
      {(signIn, link) => (
        <DisownForm signIn={signIn} rules={rules} link={link.secret} onRefused={link.end} onDone={onDone} />
      )}
    </LinkPage>
  )
}

function WayOut({ link, supportEmail }: { link: 'incomplete' | 'noLonger'; supportEmail: string }) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  return (
    <>
      {link === 'noLonger' && (
        <a href="/sign-in" className={buttonStyle({ className: 'w-full' })}>
          {common('signIn')}
        </a>
      )}
      <p className="text-ink-muted text-sm">
        {t.rich(link === 'noLonger' ? 'noLongerSupport' : 'incompleteSupport', mailLink(supportEmail))}
      </p>
    </>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && ['EMAIL_006', 'AUTH_001'].includes(error.code)

interface TakeBackFormProps extends Pick<NotMeProps, 'rules' | 'heldFor'> {
  change: Change
  link: ChangeLink
  onRefused: () => void
  onDone: (done: DoneProps) => void
}

const resolvers = {
  password: rulesOf<NotMeValues>((all) => all.notMeRules.password),
  none: rulesOf<NotMeValues>((all) => all.notMeRules.none),
}

function TakeBackForm({ change, rules, heldFor, link, onRefused, onDone }: TakeBackFormProps) {
  const t = useTranslations('NotMe')
  const { showError } = useErrorTexts()
  const nameOf = useDeviceName()
  const isVerified = change.status === 'verified'
  // Read once when the page opens, so that the form stays as it is.
  const [hasEnded] = useState(() => !change.can_be_verified || Date.parse(change.expires_at) <= serverNow())
  const kind = isVerified ? 'undo' : hasEnded ? 'secure' : 'stop'
  const form = useForm<NotMeValues>({ resolver: resolvers[change.has_password ? 'password' : 'none'] })
  const undo = useMutation({
    mutationFn: ({ new_password }: NotMeValues) => {
      const { changeRequestId, token } = link
      const body = change.has_password ? { new_password } : {}
      return callWith(() => token, 'undoEmailChange', { changeRequestId }, body)
    },
    onSuccess: (answer) => {
      clearNotMeLink()
      const { status, email } = answer
      onDone({ title: t(status === 'reverted' ? 'undone' : 'stopped'), email, hadPassword: change.has_password })
    },
    onError: (error) => (isRefused(error) ? onRefused() : showError(form, error)),
  })
  return (
    <StatusCard icon={ShieldAlert} tone="warning" title={t(`${kind}Title`)} text={t(`${kind}Text`)}>
      <dl className="divide-y divide-line rounded-xl border border-line">
        <Fact label={t(isVerified ? 'oldAddress' : 'currentAddress')}>{change.old_email}</Fact>
        <Fact label={t('newAddress')}>{change.changed_to ?? change.new_email}</Fact>
        <Fact label={t(isVerified ? 'changed' : 'requested')}>
          <LocalTime dateTime={change.changed_at ?? change.requested_at} />
        </Fact>
        {change.user_agent && <Fact label={t('device')}>{nameOf(change.user_agent)}</Fact>}
        <Fact label={t('ipAddress')}>{change.ip_address || '–'}</Fact>
      </dl>
      <Effects>
        <li>{t.rich(`${kind}Effect`, { address: change.old_email, email: bold })}</li>
        <li>{t('signedOutEffect')}</li>
        {change.has_password && <li>{t('passwordEffect')}</li>}
        {isVerified && heldFor && <li>{heldFor}</li>}
      </Effects>
      <SecureForm
        form={form}
        rules={rules}
        email={change.old_email}
        hasPassword={change.has_password}
        sure={t('sure')}
        label={t(kind)}
        worksUntil={change.works_until}
        send={undo.mutateAsync}
      />
    </StatusCard>
  )
}

interface DisownFormProps {
  signIn: Answer<typeof getSignIn>
  rules: NewPasswordRules
  link: SignInLink
  onRefused: () => void
  onDone: (done: DoneProps) => void
}

function DisownForm({ signIn, rules, link, onRefused, onDone }: DisownFormProps) {
  const t = useTranslations('NotMe')
  const { showError } = useErrorTexts()
  const nameOf = useDeviceName()
  const { has_password: hasPassword, email } = signIn
  const form = useForm<NotMeValues>({ resolver: resolvers[hasPassword ? 'password' : 'none'] })
  const disown = useMutation({
    mutationFn: ({ new_password }: NotMeValues) =>
      callWith(() => link.token, 'disownSignIn', { sessionId: link.sessionId }, hasPassword ? { new_password } : {}),
    onSuccess: () => {
      clearNotMeLink()
      onDone({ title: t('signInDone'), email, hadPassword: hasPassword })
    },
    onError: (error) => (isRefused(error) ? onRefused() : showError(form, error)),
  })
  return (
    <StatusCard
      icon={ShieldAlert}
      tone="warning"
      title={t('signInTitle')}
      text={t(hasPassword ? 'signInText' : 'signInTextWithoutPassword')}
    >
      <dl className="divide-y divide-line rounded-xl border border-line">
        <Fact label={t('signedInAt')}>
          <LocalTime dateTime={signIn.signed_in_at} />
        </Fact>
        <Fact label={t('device')}>{nameOf(signIn.user_agent)}</Fact>
        <Fact label={t('ipAddress')}>{signIn.ip_address || '–'}</Fact>
      </dl>
      <Effects>
        <li>{t('signedOutEffect')}</li>
        {hasPassword && <li>{t('passwordEffect')}</li>}
      </Effects>
      <SecureForm
        form={form}
        rules={rules}
        email={email}
        hasPassword={hasPassword}
        sure={t('signInSure')}
        label={t('signInSecure')}
        worksUntil={signIn.works_until}
        send={disown.mutateAsync}
      />
    </StatusCard>
  )
}

function Effects({ children }: { children: ReactNode }) {
  const t = useTranslations('NotMe')
  return (
    <div>
      <h2 className="font-medium">{t('effects')}</h2>
      <ul className="mt-1.5 list-disc space-y-1 ps-5 text-ink-muted">{children}</ul>
    </div>
  )
}

interface SecureFormProps {
  form: UseFormReturn<NotMeValues>
  rules: NewPasswordRules
  email: string
  hasPassword: boolean
  /** What a person without a password confirms. */
  sure: string
  label: string
  worksUntil: string
  send: (values: NotMeValues) => Promise<unknown>
}

function SecureForm({ form, rules, email, hasPassword, sure, label, worksUntil, send }: SecureFormProps) {
  const t = useTranslations('NotMe')
  const { fieldOf } = useErrorTexts()
  const { errors } = form.formState
  return (
    <>
      <Form className="space-y-5" onSubmit={form.handleSubmit((values) => send(values).catch(() => {}))}>
        {hasPassword ? (
          <>
            {/* Tells a password manager whose password it is. */}
            <input type="text" autoComplete="username" value={email} readOnly hidden />
            <NewPasswordFields
              rules={rules}
              typed={form.watch('new_password')}
              password={fieldOf(form, 'new_password')}
            />
          </>
        ) : (
          <CheckboxField label={sure} {...fieldOf(form, 'sure')} />
        )}
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
        <Button type="submit" className="w-full" isPending={form.formState.isSubmitting}>
          {label}
        </Button>
      </Form>
      <p className="text-ink-muted text-sm">
        {t.rich('worksUntil', { date: () => <LocalTime dateTime={worksUntil} /> })}
      </p>
    </>
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
      <a href="/sign-in" className={buttonStyle({ className: 'w-full' })}>
        {common('signIn')}
      </a>
      <p className="text-ink-muted text-sm">{t('lookThrough')}</p>
    </StatusCard>
  )
}
