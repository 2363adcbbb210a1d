'use client'

import * as z from 'zod'
import { type CallOptions, type ClientOptions, createClient } from '@/contract/client'
import type { Answer, Body, Place } from '@/contract/define'
import { ApiError, ERRORS, noAnswer, UNREADABLE } from '@/contract/errors'
import { LINK_OPERATIONS } from '@/contract/link-operations'
import { USER_OPERATIONS } from '@/contract/user-operations'
import { SESSION_ENDED } from '../forms/draft'
import { fetchOnServerClock, serverNow } from '../ui/server-clock'

const signedIn = z.object({
  user: z.object({ id: z.string() }),
  accessToken: z.string(),
  accessTokenExpiresAt: z.string(),
})
type SignedIn = z.infer<typeof signedIn>

// In this module's memory only, because other scripts and later visitors could read any storage.
let session: SignedIn | undefined
let asking: Promise<SignedIn> | undefined

const isFresh = (held: SignedIn) => Date.parse(held.accessTokenExpiresAt) - serverNow() > 60_000

async function askForSession(): Promise<SignedIn> {
  // Not next-auth's getSession(): it answers null for a lost connection too, and then nobody has to sign in again.
  const response = await fetchOnServerClock('/api/auth/session', { cache: 'no-store' }).catch(() => undefined)
  const answer: unknown = await response?.json().catch(() => undefined)
  if (!response) throw noAnswer()
  if (response.status === ERRORS.SERVER_002.status) throw new ApiError('SERVER_002', ERRORS.SERVER_002.details, 503)
  if (!response.ok || answer === undefined) throw noAnswer(UNREADABLE)
  const parsed = signedIn.safeParse(answer)
  if (parsed.success) return parsed.data
  window.dispatchEvent(new Event(SESSION_ENDED))
  const { pathname, search, hash } = window.location
  window.location.assign(`/sign-in?ended=1&next=${encodeURIComponent(pathname + search)}${hash}`)
  throw new ApiError('AUTH_001', 'Your session has ended. Sign in again.', 0)
}

/** After a new sign-in the next call has to ask for the token of that session. */
export function forgetSession() {
  session = undefined
}

async function sessionToken(): Promise<string> {
  if (session && isFresh(session)) return session.accessToken
  asking ??= askForSession().finally(() => {
    asking = undefined
  })
  session = await asking
  return session.accessToken
}

const OPERATIONS = { ...USER_OPERATIONS, ...LINK_OPERATIONS }
type Operations = typeof OPERATIONS

/** Calls an operation with the given token, which may be that of a mailed link, or with none. */
export const callWith = <Name extends keyof Operations>(
  accessToken: ClientOptions['accessToken'],
  name: Name,
  params: Place<Operations[Name]>,
  body?: Body<Operations[Name]>,
  options?: CallOptions,
): Promise<Answer<Operations[Name]>> =>
  createClient({ accessToken, fetch: fetchOnServerClock })(OPERATIONS[name], params, body, options)

/** Makes a call with the token of the session here. A token that was refused is renewed once. */
export async function withSession<T>(ask: (accessToken: () => Promise<string>) => Promise<T>): Promise<T> {
  try {
    return await ask(sessionToken)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'AUTH_001' && error.status === 401)) throw error
    session = undefined
    return ask(sessionToken)
  }
}

/** Calls an operation as the person signed in here. */
export const call = <Name extends keyof Operations>(
  name: Name,
  params: Place<Operations[Name]>,
  body?: Body<Operations[Name]>,
): Promise<Answer<Operations[Name]>> => withSession((accessToken) => callWith(accessToken, name, params, body))
