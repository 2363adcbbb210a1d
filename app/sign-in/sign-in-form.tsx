'use client'

import Link from 'next/link'
import { useEffect } from 'react'
import { useTranslations } from 'use-intl/react'
import { keepDraft, SIGN_IN, takeDraft } from '@/components/forms/draft'
import { SlowHint } from '@/components/forms/slow-hint'
import { Button } from '@/components/ui/button'
import { ErrorAlert } from '@/components/ui/error-alert'
import { EmailField, PasswordField } from '@/components/ui/field'
import { textLink } from '@/components/ui/text-link'
import { useSignIn } from './use-sign-in'

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
  const { form, submit, isPending } = useSignIn(next, email)
  const { errors } = form.formState

  useEffect(() => {
    const draft = takeDraft(SIGN_IN, '')
    const isHanded = !email && typeof draft.email === 'string'
    if (isHanded) form.setValue('email', draft.email as string)
    const isFree = !window.location.hash && document.activeElement === document.body
    if (takesFocus && isFree) form.setFocus(isHanded ? 'password' : 'email')
  }, [takesFocus, email, form])

  return (
    <form method="post" noValidate onSubmit={submit} className="mt-6 space-y-5">
      <ErrorAlert error={errors.root} />
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
