'use client'

import Link from 'next/link'
import { useEffect, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useLocale, useTranslations } from 'use-intl/react'
import { isAway, useErrorTexts } from '@/components/api/error-texts'
import { keepDraft, SIGN_IN, takeDraft } from '@/components/forms/draft'
import { SlowHint } from '@/components/forms/slow-hint'
import { signInHere } from '@/components/session/auth-calls'
import { Button } from '@/components/ui/button'
import { formatDuration } from '@/components/ui/duration'
import { ErrorAlert } from '@/components/ui/error-alert'
import { EmailField, PasswordField } from '@/components/ui/field'
import { textLink } from '@/components/ui/text-link'
import { ApiError, ERRORS } from '@/contract/errors'

interface SignInFormProps {
  next: string
  /** Whether the first field takes the focus, because nothing above the form has to be read first. */
  takesFocus: boolean
  /** Of the person who signs in again. */
  email: string | undefined
}

export function SignInForm({ next, takesFocus, email = '' }: SignInFormProps) {
  const t = useTranslations('SignIn')
  const common = useTranslations('Common')
  const language = useLocale()
  const { errorText, showUntilBack } = useErrorTexts()
  const form = useForm<{ email: string; password: string }>({ defaultValues: { email } })
  const { errors } = form.formState
  const [isLeaving, setLeaving] = useState(false)
  const isPending = form.formState.isSubmitting || isLeaving

  useEffect(() => {
    const draft = takeDraft(SIGN_IN, '')
    const isHanded = !email && typeof draft.email === 'string'
    if (isHanded) form.setValue('email', draft.email as string)
    const isFree = !window.location.hash && document.activeElement === document.body
    if (takesFocus && isFree) form.setFocus(isHanded ? 'password' : 'email')
  }, [takesFocus, email, form])

  const submit = form.handleSubmit(async ({ email, password }) => {
    try {
      await signInHere(email, password)
      setLeaving(true)
      // The fragment may hold the secret of a verification link, which must never be sent to a server.
      window.location.assign(next + window.location.hash)
    } catch (error) {
      if (isAway(error)) showUntilBack(form, refusal(error))
      else form.setError('root', { message: refusal(error) })
      if (isWrong(error)) form.setFocus('password', { shouldSelect: true })
    }
  })

  function refusal(error: unknown): string {
    if (isWrong(error)) return t('wrong')
    if (error instanceof ApiError && error.status === ERRORS.SERVER_002.status) return t('away')
    if (error instanceof ApiError && error.code === 'RATE_001')
      return t('tooMany', { time: formatDuration(error.retryAfterSeconds ?? 0, language) })
    return errorText(error)
  }

  return (
    <form method="post" noValidate onSubmit={submit} className="mt-6 space-y-5">
      <ErrorAlert>{errors.root?.message}</ErrorAlert>
      <EmailField
        label={t('email')}
        autoComplete="username"
        error={errors.email?.message}
        {...form.register('email', {
          required: t('emailMissing'),
          setValueAs: (text: string) => text.trim(),
        })}
      />
      <PasswordField
        label={t('password')}
        autoComplete="current-password"
        error={errors.password?.message}
        {...form.register('password', { required: t('passwordMissing') })}
      />
      <noscript className="block">
        <p className="text-ink-muted text-sm">{t('noScript')}</p>
      </noscript>
      <SlowHint isPending={isPending} />
      <Button type="submit" isPending={isPending} className="w-full">
        {common('signIn')}
      </Button>
      <p className="text-sm">
        <Link
          href="/forgot-password"
          className={`-my-2.5 inline-block py-2.5 ${textLink}`}
          onClick={() => keepDraft(SIGN_IN, '', { email: form.getValues('email') })}
        >
          {t('forgot')}
        </Link>
      </p>
    </form>
  )
}

const isWrong = (error: unknown) => error instanceof ApiError && error.code === 'EMAIL_007'
