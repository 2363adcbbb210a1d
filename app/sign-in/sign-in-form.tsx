'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import { signIn } from 'next-auth/react'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { z } from 'zod'
import { Alert } from '@/components/ui/alert'
import { Button } from '@/components/ui/button'
import { inWords } from '@/components/ui/duration'
import { PasswordField, TextField } from '@/components/ui/field'

const credentials = z.object({
  email: z.string().min(1, 'Enter the email address of your account.'),
  password: z.string().min(1, 'Enter your password.'),
})

export function SignInForm({ next }: { next: string }) {
  const form = useForm<z.infer<typeof credentials>>({ resolver: zodResolver(credentials) })
  const { errors } = form.formState
  const [leaving, setLeaving] = useState(false)

  const submit = form.handleSubmit(async (values) => {
    // Left to itself, next-auth sends this page's whole address as callbackUrl, with the secret in its fragment.
    const result = await signIn('credentials', { ...values, redirect: false, callbackUrl: next }).catch(() => undefined)
    if (result?.ok && !result.error) {
      setLeaving(true)
      // The secret of a verification link lives in the fragment: it goes along in the browser and is never sent.
      window.location.assign(next + window.location.hash)
      return
    }
    form.setError('root', { message: refusal(result?.error ?? undefined) })
    if (result?.error === 'CredentialsSignin') form.setFocus('password', { shouldSelect: true })
  })

  return (
    <form method="post" noValidate onSubmit={submit} className="mt-6 space-y-5">
      {errors.root && <Alert tone="danger" role="alert" title={errors.root.message} />}
      <TextField
        label="Email"
        inputMode="email"
        autoComplete="username"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        error={errors.email?.message}
        {...form.register('email', { setValueAs: (text: string) => text.trim() })}
      />
      <PasswordField
        label="Password"
        autoComplete="current-password"
        error={errors.password?.message}
        {...form.register('password')}
      />
      <Button type="submit" pending={form.formState.isSubmitting || leaving} className="w-full">
        Sign in
      </Button>
    </form>
  )
}

function refusal(error: string | undefined): string {
  if (error === 'CredentialsSignin') return 'Email or password is wrong. Check both and try again.'
  const [, seconds] = /^RATE_001:(\d+)$/.exec(error ?? '') ?? []
  if (seconds) return `Too many tries. You can try again in ${inWords(Number(seconds))}.`
  return 'We could not sign you in. Check your connection and try again in a moment.'
}
