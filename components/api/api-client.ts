'use client'

import * as z from 'zod'
import { type CallOptions, type ClientOptions, createClient } from '@/contract/client'
import { type Answer, type Body, type Place, READ_BY_PAGE } from '@/contract/define'
import { ApiError, ERRORS, noAnswer, UNREADABLE } from '@/contract/errors'
import { LINK_OPERATIONS } from '@/contract/link-operations'
import { USER_OPERATIONS } from '@/contract/user-operations'
import { PAGE_LEAVES } from '../forms/draft'
import { fetchOnServerClock } from '../ui/server-clock'
import { noteChangesLeft } from './changes-left'
import { holdToken } from './held-token'

const signedIn = z.object({
  user: z.object({ id: z.string() }),
  accessToken: z.string(),
  accessTokenExpiresAt: z.string(),
})

let leadsToSignIn = true

/** From now on a call that finds no session leads nowhere, because the person has ended it and another page comes. */
export const stayOnPage = () => {
  leadsToSignIn = false
}

async function askForSession() {
  // Not next-auth's getSession(): it answers null for a lost connection too, and then nobody has to sign in again.
  const response = await fetchOnServerClock('/api/auth/session', { cache: 'no-store' }).catch(() => undefined)
  const answer: unknown = await response?.json().catch(() => undefined)
  if (!response) throw noAnswer()
  if (response.status === ERRORS.SERVER_002.status) throw new ApiError('SERVER_002', ERRORS.SERVER_002.details, 503)
  if (!response.ok || answer === undefined) throw noAnswer(UNREADABLE)
  const parsed = signedIn.safeParse(answer)
  if (parsed.success) return { value: parsed.data.accessToken, expiresAt: parsed.data.accessTokenExpiresAt }
  if (leadsToSignIn) {
    window.dispatchEvent(new Event(PAGE_LEAVES))
    const { pathname, search, hash } = window.location
    window.location.assign(`/sign-in?ended=1&next=${encodeURIComponent(pathname + search)}${hash}`)
  }
  throw new ApiError('AUTH_001', 'Your session has ended. Sign in again.', 0)
}

/** After a new sign-in the next call has to ask for the token of that session. */
export const { forget: forgetSession, withToken: withSession } = holdToken(askForSession)

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
  createClient({ accessToken, fetch: OPERATIONS[name].method === 'GET' ? readByPage : sendByPage })(
    OPERATIONS[name],
    params,
    body,
    options,
  )

const readByPage: typeof fetch = (input, init) =>
  fetchOnServerClock(input, { ...init, headers: { ...(init?.headers as Record<string, string>), [READ_BY_PAGE]: '1' } })

const sendByPage: typeof fetch = async (input, init) => {
  const response = await fetchOnServerClock(input, init)
  noteChangesLeft(response)
  return response
}

/** Calls an operation as the person signed in here. */
export const call = <Name extends keyof Operations>(
  name: Name,
  params: Place<Operations[Name]>,
  body?: Body<Operations[Name]>,
  options?: CallOptions,
): Promise<Answer<Operations[Name]>> => withSession((accessToken) => callWith(accessToken, name, params, body, options))
