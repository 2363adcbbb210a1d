'use client'

import { getEmailStatus } from '@/contract/email'
import { call, forgetSession } from './api'
import { signInHere } from './auth-calls'

/** Proves by the password that it is still the owner who sits here; calls made after it belong to the new session. */
export async function signInAgain(userId: string, password: string) {
  // The address may have changed in another window.
  const { current_email: email } = await call(getEmailStatus, { userId })
  await signInHere(email, password)
  forgetSession()
}
