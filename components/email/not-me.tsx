'use client'

import { useMutation } from '@tanstack/react-query'
import { CircleCheck, ShieldAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { getNotMe, undoEmailChange } from '@/contract/email'
import { ApiError } from '@/contract/errors'
import { useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { Form } from '../forms/form'
import { NewPasswordFields } from '../password/new-password-fields'
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
import { clearNotMeLink, type NotMeLink, useNotMeLink } from './not-me-link'

type Change = Answer<typeof getNotMe>

/** What the link of a message to the old address opens. Nothing is changed before the form is sent. */
export function NotMe({ supportEmail }: { supportEmail: string }) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  const secret = useNotMeLink()
  const [done, setDone] = useState<DoneProps>()
  if (done) return <Done {...done} />
  return (
    <LinkPage
      icon={ShieldAlert}
      title={t('tabTitle')}
      secret={secret}
      read={({ changeRequestId, token }) => callWith(() => token, 'getNotMe', { changeRequestId })}
      isRefused={isRefused}
      noLongerText={t('noLongerText')}
      wayOut={(link) => (
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
      )}
    >
      {(change, link) => <TakeBackForm change={change} link={link.secret} onRefused={link.end} onDone={setDone} />}
    </LinkPage>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && ['EMAIL_006', 'AUTH_001'].includes(error.code)

interface TakeBackFormProps {
  change: Change
  link: NotMeLink
  onRefused: () => void
  onDone: (done: DoneProps) => void
}

const rules = {
  password: rulesOf<NotMeValues>((all) => all.notMeRules.password),
  none: rulesOf<NotMeValues>((all) => all.notMeRules.none),
}

function TakeBackForm({ change, link, onRefused, onDone }: TakeBackFormProps) {
  const t = useTranslations('NotMe')
  const { fieldOf, showError } = useErrorTexts()
  const isVerified = change.status === 'verified'
  // Read once when the page opens, so that the form stays as it is.
  const [hasEnded] = useState(() => !change.can_be_verified || Date.parse(change.expires_at) <= serverNow())
  const kind = isVerified ? 'undo' : hasEnded ? 'secure' : 'stop'
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
      onDone({ undone: answer, hadPassword: change.has_password })
    },
    onError: (error) => (isRefused(error) ? onRefused() : showError(form, error)),
  })
  return (
    <StatusCard icon={ShieldAlert} tone="warning" title={t(`${kind}Title`)} text={t(`${kind}Text`)}>
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
          <li>{t.rich(`${kind}Effect`, { address: change.old_email, email: bold })}</li>
          <li>{t('signedOutEffect')}</li>
          {change.has_password && <li>{t('passwordEffect')}</li>}
        </ul>
      </div>
      <Form className="space-y-5" onSubmit={form.handleSubmit((values) => undo.mutateAsync(values).catch(() => {}))}>
        {change.has_password ? (
          <>
            {/* Tells a password manager whose password it is. */}
            <input type="text" autoComplete="username" value={change.old_email} readOnly hidden />
            <NewPasswordFields password={fieldOf(form, 'new_password')} />
          </>
        ) : (
          <CheckboxField label={t('sure')} {...fieldOf(form, 'sure')} />
        )}
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
        <Button type="submit" className="w-full" isPending={form.formState.isSubmitting}>
          {t(kind)}
        </Button>
      </Form>
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

interface DoneProps {
  undone: Answer<typeof undoEmailChange>
  hadPassword: boolean
}

function Done({ undone, hadPassword }: DoneProps) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  const isReverted = undone.status === 'reverted'
  return (
    <StatusCard
      icon={CircleCheck}
      tone="success"
      isAnnounced
      title={t(isReverted ? 'undone' : 'stopped')}
      text={
        <>
          {t.rich('addressNow', { address: undone.email, email: bold })}{' '}
          {t(hadPassword ? 'signInWithNew' : 'signInAgain')}
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
