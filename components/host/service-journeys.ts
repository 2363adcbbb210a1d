'use client'

import { call } from '../api/load-contract'
import { keepDraft } from '../forms/draft'
import { endSessionHere } from '../session/auth-calls'
import { keepReturnPath } from '../session/return-path'
import type { Host } from './host'

export { signInAgain } from '../session/sign-in-again'

export const leaveForProvider: Host['reauthenticate'] = async (userId, purpose, { values, comesBackTo }) => {
  const { authorization_url } = await call('startReauthentication', { userId }, { purpose })
  if (comesBackTo) keepReturnPath(comesBackTo)
  else keepDraft(purpose, userId, values())
  window.location.assign(authorization_url)
  // The page is being left.
  await new Promise(() => {})
}

const SIGN_OUT_MS = 2_000

/** The session has ended; signing out removes its cookie. */
export async function signOutSoon() {
  await Promise.race([endSessionHere(), new Promise((resolve) => setTimeout(resolve, SIGN_OUT_MS))])
}
