'use client'

import { loadCalls } from '../api/load-contract'
import { signInHere } from './auth-calls'

/** Checks the password by a new sign-in. Later calls belong to the new session, which is fresh enough for a withdrawal or a token. */
export async function signInAgain(userId: string, password: string) {
  const { call, forgetSession } = await loadCalls()
  // The address may have changed in another window.
  const { current_email: email } = await call('getEmailStatus', { userId })
  await signInHere(email, password)
  forgetSession()
}
