'use client'

import { z } from 'zod'
import { createClient } from '@/contract/client'
import { ApiError, noAnswer } from '@/contract/errors'
import { fetchOnServerClock, serverNow } from './ui/server-clock'

const signedIn = z.object({
  user: z.object({ id: z.string() }),
  accessToken: z.string(),
  accessTokenExpiresAt: z.string(),
})
type SignedIn = z.infer<typeof signedIn>

// In this module's memory only: never in storage, where other scripts and later visitors could read it.
let session: SignedIn | undefined
let asking: Promise<SignedIn> | undefined

const isFresh = (held: SignedIn) => Date.parse(held.accessTokenExpiresAt) - serverNow() > 60_000

async function askForSession(): Promise<SignedIn> {
  // Not next-auth's getSession(): it answers null for a lost connection too, which is no reason to sign in again.
  const response = await fetchOnServerClock('/api/auth/session', { cache: 'no-store' }).catch(() => undefined)
  const answer: unknown = await response?.json().catch(() => undefined)
  if (!response?.ok || answer === undefined) throw noAnswer()
  const parsed = signedIn.safeParse(answer)
  if (parsed.success) return parsed.data
  const { pathname, search, hash } = window.location
  window.location.assign(`/sign-in?ended=1&next=${encodeURIComponent(pathname + search)}${hash}`)
  throw new ApiError('AUTH_001', 'Your session has ended. Sign in again.', 0)
}

/** After a new sign-in: the next call asks for the token of that session. */
export function forgetSession() {
  session = undefined
}

async function accessToken(): Promise<string> {
  if (session && isFresh(session)) return session.accessToken
  asking ??= askForSession().finally(() => {
    asking = undefined
  })
  session = await asking
  return session.accessToken
}

const client = createClient({ accessToken, fetch: fetchOnServerClock })

/** Calls the service as the person signed in here; a token that ended early is renewed once. */
export const call: typeof client = async (contract, params, body) => {
  try {
    return await client(contract, params, body)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'AUTH_001' && error.status === 401)) throw error
    session = undefined
    return client(contract, params, body)
  }
}
