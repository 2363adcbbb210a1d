'use client'

import { signIn } from 'next-auth/react'
import { getEmailStatus } from '@/contract/email'
import { ApiError, ERRORS, isErrorCode } from '@/contract/errors'
import { call, forgetSession } from './api'

/** Proves by the password that it is still the owner who sits here; calls made after it belong to the new session. */
export async function signInAgain(userId: string, password: string) {
  // The address may have changed in another window. And where the service is away, next-auth would leave this page.
  const { current_email: email } = await call(getEmailStatus, { userId })
  const result = await signIn('credentials', { email, password, redirect: false }).catch(() => undefined)
  if (!result?.ok || result.error) throw refusal(result?.error ?? undefined)
  forgetSession()
}

function refusal(error = ''): ApiError {
  if (error === 'CredentialsSignin') return new ApiError('EMAIL_007', ERRORS.EMAIL_007.details, 0)
  const [code = '', seconds] = error.split(':')
  if (isErrorCode(code)) return new ApiError(code, ERRORS[code].details, 0, Number(seconds) || undefined)
  return new ApiError('SERVER_002', ERRORS.SERVER_002.details, 0)
}
