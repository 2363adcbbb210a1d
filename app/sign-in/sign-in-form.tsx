'use client'

import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { signInHere } from '@/components/auth-calls'
import { Button } from '@/components/ui/button'
import { inWords } from '@/components/ui/duration'
import { ErrorAlert } from '@/components/ui/error-alert'
import { PasswordField, TextField } from '@/components/ui/field'
import { ApiError } from '@/contract/errors'

export function SignInForm({ next }: { next: string }) {
  const form = useForm<{ email: string; password: string }>()
  const { errors } = form.formState
  const [leaving, setLeaving] = useState(false)

  const submit = form.handleSubmit(async ({ email, password }) => {
    try {
      await signInHere(email, password)
      setLeaving(true)
      // The fragment may hold the secret of a verification link, which must never be sent to a server.
      window.location.assign(next + window.location.hash)
    } catch (error) {
      form.setError('root', { message: refusal(error) })
      if (isWrong(error)) form.setFocus('password', { shouldSelect: true })
    }
  })

  return (
    <form method="post" noValidate onSubmit={submit} className="mt-6 space-y-5">
      <ErrorAlert>{errors.root?.message}</ErrorAlert>
      <TextField
        label="Email"
        inputMode="email"
        autoComplete="username"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        error={errors.email?.message}
        {...form.register('email', {
          required: 'Enter the email address of your account.',
          setValueAs: (text: string) => text.trim(),
        })}
      />
      <PasswordField
        label="Password"
        autoComplete="current-password"
        error={errors.password?.message}
        {...form.register('password', { required: 'Enter your password.' })}
      />
      <noscript className="block">
        <p className="text-ink-muted text-sm">Signing in needs JavaScript. Switch it on and reload this page.</p>
      </noscript>
      <Button type="submit" pending={form.formState.isSubmitting || leaving} className="w-full">
        Sign in
      </Button>
    </form>
  )
}

const isWrong = (error: unknown) => error instanceof ApiError && error.code === 'EMAIL_007'

function refusal(error: unknown): string {
  if (isWrong(error)) return 'Email or password is wrong. Check both and try again.'
  if (error instanceof ApiError && error.code === 'RATE_001')
    return `Too many tries. You can try again in ${inWords(error.retryAfterSeconds ?? 0)}.`
  return 'We could not sign you in. Check your connection and try again in a moment.'
}
