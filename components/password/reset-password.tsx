'use client'

import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, KeyRound, Link2Off, WifiOff } from 'lucide-react'
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
import { callWith, preloadContract, rulesOf } from '../api/load-contract'
import { endOfLink, READ_ONCE, secretOfLink } from '../session/link-secret'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { PageCard } from '../ui/card'
import { ErrorAlert } from '../ui/error-alert'
import { StatusCard } from '../ui/status-card'
import { NewPasswordFields } from './new-password-fields'

const { useSecret, clear } = secretOfLink<string>((fields) => {
  const token = fields.get('token') ?? ''
  return RESET_TOKEN.test(token) ? token : null
})

type End = 'changed' | 'refused'

export function ResetPassword() {
  const token = useSecret()
  const [end, setEnd] = useState<End>()
  if (end === 'changed' || (token === null && endOfLink() === 'spent'))
    return <Changed isAnnounced={end === 'changed'} />
  if (end === 'refused') return <NoLongerWorks />
  if (token === undefined) return <Reading />
  if (token === null) return <NotComplete />
  return <OpenedLink key={token} token={token} onEnd={setEnd} />
}

interface LinkProps {
  token: string
  onEnd: (end: End) => void
}

/** A link that no longer works is told before a password is chosen. */
function OpenedLink({ token, onEnd }: LinkProps) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['password-reset', token],
    queryFn: () => callWith(() => token, 'getPasswordReset', {}),
    ...READ_ONCE,
  })
  if (isRefused(error)) return <NoLongerWorks />
  if (data) return <ChoosePassword token={token} onEnd={onEnd} />
  return error ? <Unread error={error} isPending={isFetching} onRetry={() => refetch()} /> : <Reading />
}

const isRefused = (error: unknown) => error instanceof ApiError && error.code === 'PASSWORD_002'

type Values = Body<typeof confirmPasswordReset> & { repeated: string }
const resolver = rulesOf<Values>((rules) => rules.resetPasswordRules)

function ChoosePassword({ token, onEnd }: LinkProps) {
  const t = useTranslations('Passwords')
  const { fieldText, showError } = useErrorTexts()
  const router = useRouter()
  const form = useForm<Values>({ resolver })
  const { errors } = form.formState
  const confirm = useMutation({
    mutationFn: ({ new_password }: Values) => callWith(() => token, 'confirmPasswordReset', {}, { new_password }),
    // No cache may keep the password.
    gcTime: 0,
    onSuccess: () => {
      clear()
      onEnd('changed')
      router.refresh()
    },
    onError: (error) => {
      if (isRefused(error)) onEnd('refused')
      else showError(form, error)
    },
  })

  return (
    <PageCard title={t('chooseTitle')} text={t('chooseText')}>
      <form
        method="post"
        noValidate
        onFocus={preloadContract}
        onSubmit={form.handleSubmit((values) => confirm.mutate(values))}
        className="mt-6 space-y-5"
      >
        <NewPasswordFields
          password={{ error: fieldText(errors.new_password), ...form.register('new_password') }}
          repeated={{ error: fieldText(errors.repeated), ...form.register('repeated') }}
        />
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
        <Button type="submit" isPending={form.formState.isSubmitting || confirm.isPending} className="w-full">
          {t('setNew')}
        </Button>
        <p className="text-ink-muted text-sm">{t('resetNote')}</p>
      </form>
    </PageCard>
  )
}

function Changed({ isAnnounced }: { isAnnounced: boolean }) {
  const t = useTranslations('Passwords')
  const common = useTranslations('Common')
  return (
    <StatusCard
      heading="h1"
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

function NoLongerWorks() {
  const t = useTranslations('Passwords')
  return (
    <StatusCard
      heading="h1"
      icon={Link2Off}
      tone="warning"
      isAnnounced
      title={t('noLongerTitle')}
      text={t('noLongerText')}
    >
      <AskAgain />
    </StatusCard>
  )
}

function NotComplete() {
  const t = useTranslations('Passwords')
  return (
    <StatusCard heading="h1" icon={Link2Off} tone="warning" title={t('incompleteTitle')} text={t('incompleteText')}>
      <AskAgain />
    </StatusCard>
  )
}

function Unread({ error, isPending, onRetry }: { error: Error; isPending: boolean; onRetry: () => void }) {
  const t = useTranslations('Passwords')
  const failure = useTranslations('Failure')
  const { errorText } = useErrorTexts()
  return (
    <StatusCard heading="h1" icon={WifiOff} tone="warning" title={t('unreadTitle')} text={errorText(error)}>
      <Button className="w-full" isPending={isPending} onClick={onRetry}>
        {failure('tryAgain')}
      </Button>
    </StatusCard>
  )
}

function Reading() {
  const t = useTranslations('Passwords')
  return (
    <StatusCard heading="h1" icon={KeyRound} title={t('chooseTitle')} text={t('reading')}>
      <noscript>
        <p>{t('noScript')}</p>
      </noscript>
    </StatusCard>
  )
}

function AskAgain() {
  const t = useTranslations('Passwords')
  return (
    <Link href="/forgot-password" className={buttonStyle({ className: 'w-full' })}>
      {t('askAgain')}
    </Link>
  )
}
