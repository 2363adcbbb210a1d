import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useLocale, useTranslations } from 'use-intl/react'
import { isAway, isUnreached, useErrorTexts } from '@/components/api/error-texts'
import { signInHere } from '@/components/session/auth-calls'
import { formatDuration } from '@/components/ui/duration'
import { ApiError, ERRORS } from '@/contract/errors'

/** The form of the sign-in, what it sends, and what a refusal says. */
export function useSignIn(next: string, email: string) {
  const t = useTranslations('SignIn')
  const language = useLocale()
  const { errorText, showUntilBack } = useErrorTexts()
  const form = useForm<{ email: string; password: string }>({ defaultValues: { email } })
  const [isLeaving, setLeaving] = useState(false)

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
    if (isUnreached(error) || (error instanceof ApiError && error.status === ERRORS.SERVER_002.status)) return t('away')
    if (error instanceof ApiError && error.code === 'RATE_001')
      return t('tooMany', { time: formatDuration(error.retryAfterSeconds ?? 0, language) })
    return errorText(error)
  }

  return { form, submit, isPending: form.formState.isSubmitting || isLeaving }
}

const isWrong = (error: unknown) => error instanceof ApiError && error.code === 'EMAIL_007'
