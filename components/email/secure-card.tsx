'use client'

import { useMutation } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { Form } from '../forms/form'
import { NewPasswordField, type NewPasswordRules } from '../password/new-password-field'
import { Button } from '../ui/button'
import { Disclosure } from '../ui/disclosure'
import { ErrorAlert } from '../ui/error-alert'
import { CheckboxField } from '../ui/field'
import { LocalTime } from '../ui/local-time'
import { StatusCard } from '../ui/status-card'
import type { NotMeValues } from './email-rules'
import { clearNotMeLink } from './not-me-link'

export type NewPassword = Partial<Pick<NotMeValues, 'new_password'>>

/** What the page says then, and the account's address. */
interface Secured {
  title: string
  email: string
}

export interface SecureCardProps {
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
  send: (body: NewPassword) => Promise<Secured>
  /** Ends the page where the error says that the link no longer works. */
  endIf: (error: unknown) => boolean
  onDone: (done: Secured & { hadPassword: boolean }) => void
}

const resolvers = {
  password: rulesOf<NotMeValues>((all) => all.notMeRules.password),
  none: rulesOf<NotMeValues>((all) => all.notMeRules.none),
}

/** What happened, what the form does, and the form. */
export function SecureCard(props: SecureCardProps) {
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
    onError: (error) => props.endIf(error) || showError(form, error),
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
        <ErrorAlert error={errors.root} />
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

export const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="px-4 py-2.5">
    <dt className="text-ink-muted text-sm">{label}</dt>
    <dd className="wrap-anywhere">
      <bdi>{children}</bdi>
    </dd>
  </div>
)
