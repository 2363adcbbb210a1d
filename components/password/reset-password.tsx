'use client'

import { useMutation } from '@tanstack/react-query'
import { CircleCheck, KeyRound } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import { ApiError } from '@/contract/errors'
import type { confirmPasswordReset } from '@/contract/password'
import { RESET_TOKEN } from '@/contract/vocabulary'
import { useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { Form } from '../forms/form'
import { SlowHint } from '../forms/slow-hint'
import { LinkPage } from '../session/link-page'
import { endOfLink, secretOfLink } from '../session/link-secret'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { PageCard } from '../ui/card'
import { ErrorAlert } from '../ui/error-alert'
import { StatusCard } from '../ui/status-card'
import { NewPasswordField, type NewPasswordRules } from './new-password-field'

const { useSecret, clear } = secretOfLink<string>((fields) => {
  const token = fields.get('token') ?? ''
  return RESET_TOKEN.test(token) ? token : null
})

export function ResetPassword({ rules }: { rules: NewPasswordRules }) {
  const t = useTranslations('Passwords')
  const token = useSecret()
  const [isChanged, setChanged] = useState(false)
  if (isChanged || (token === null && endOfLink() === 'spent')) return <Changed isAnnounced={isChanged} />
  return (
    <LinkPage
      icon={KeyRound}
      title={t('chooseTitle')}
      secret={token}
      read={(secret) => callWith(() => secret, 'getPasswordReset', {})}
      isRefused={isRefused}
      noLongerText={t('noLongerText')}
      wayOut={() => (
        <Link href="/forgot-password" className={buttonStyle({ className: 'w-full' })}>
          {t('askAgain')}
        </Link>
      )}
    >
      {({ email }, { secret, end }) => (
        <ChoosePassword rules={rules} token={secret} email={email} onRefused={end} onChanged={() => setChanged(true)} />
      )}
    </LinkPage>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.code === 'PASSWORD_002'

interface ChoosePasswordProps {
  rules: NewPasswordRules
  token: string
  /** The address of the account. */
  email: string
  onRefused: () => void
  onChanged: () => void
}

type Values = Body<typeof confirmPasswordReset>
const resolver = rulesOf<Values>((rules) => rules.resetPasswordRules)

function ChoosePassword({ rules, token, email, onRefused, onChanged }: ChoosePasswordProps) {
  const t = useTranslations('Passwords')
  const { fieldOf, showError } = useErrorTexts()
  const router = useRouter()
  const form = useForm<Values>({ resolver })
  const { errors } = form.formState
  const confirm = useMutation({
    mutationFn: (body: Values) => callWith(() => token, 'confirmPasswordReset', {}, body),
    // No cache may keep the password.
    gcTime: 0,
    onSuccess: () => {
      clear()
      onChanged()
      router.refresh()
    },
    onError: (error) => (isRefused(error) ? onRefused() : showError(form, error)),
  })

  return (
    <PageCard title={t('chooseTitle')} text={t('chooseText')}>
      <Form onSubmit={form.handleSubmit((body) => confirm.mutate(body))} className="mt-6 space-y-5">
        <p className="wrap-anywhere font-medium">
          <bdi>{email}</bdi>
        </p>
        {/* Tells a password manager whose password it is. */}
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <NewPasswordField rules={rules} typed={form.watch('new_password')} {...fieldOf(form, 'new_password')} />
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
        <SlowHint isPending={confirm.isPending} />
        <Button type="submit" isPending={form.formState.isSubmitting || confirm.isPending} className="w-full">
          {t('setNew')}
        </Button>
        <p className="text-ink-muted text-sm">{t('resetNote')}</p>
      </Form>
    </PageCard>
  )
}

function Changed({ isAnnounced }: { isAnnounced: boolean }) {
  const t = useTranslations('Passwords')
  const common = useTranslations('Common')
  return (
    <StatusCard
      icon={CircleCheck}
      tone="success"
      isAnnounced={isAnnounced}
      title={t('changedTitle')}
      text={t('resetChangedText')}
    >
      <Link href="/sign-in" className={buttonStyle({ className: 'w-full' })}>
        {common('signIn')}
      </Link>
    </StatusCard>
  )
}
