'use client'

import { ApiError, ERRORS, isErrorCode, noAnswer, UNREADABLE } from '@/contract/errors'
import { rule } from '../forms/form-rule'
import { fetchOnServerClock } from '../ui/server-clock'

// Not next-auth's own client, because it leaves the page when the service or a proxy fails.

/** Starts a session in this browser. A wrong address or password is refused with EMAIL_007. */
export async function signInHere(email: string, password: string): Promise<void> {
  const error = (await post('callback/credentials', { email, password })).searchParams.get('error')
  if (error === 'CredentialsSignin') throw new ApiError('EMAIL_007', ERRORS.EMAIL_007.details, 401)
  const [code = '', seconds] = error?.split(':') ?? []
  if (isErrorCode(code))
    throw new ApiError(code, ERRORS[code].details, ERRORS[code].status, Number(seconds) || undefined)
  if (error !== null) throw noAnswer(UNREADABLE)
}

/** The URL of the sign-in at the identity provider. `asks` adds parameters to its request. */
export async function providerSignInUrl(asks: Record<string, string>): Promise<string> {
  const url = await post(`signin/oidc?${new URLSearchParams(asks)}`, {})
  // It leads back here where the provider cannot be asked.
  if (url.origin === window.location.origin) throw noAnswer(UNREADABLE)
  return url.href
}

export async function endSessionHere(): Promise<void> {
  await post('signout', {})
}

/** Returns the URL of next-auth's answer, whose `error` names a refusal. */
async function post(action: string, fields: Record<string, string>): Promise<URL> {
  const { csrfToken } = await read('csrf')
  const body = new URLSearchParams({ ...fields, csrfToken: String(csrfToken), json: 'true' })
  const { url } = await read(action, { method: 'POST', body })
  if (!URL.canParse(String(url))) throw noAnswer(UNREADABLE)
  const answer = new URL(String(url))
  // next-auth refused the call unread, because the browser did not keep the cookie of the CSRF token.
  if (answer.searchParams.has('csrf')) throw noAnswer(rule('cookies'))
  return answer
}

async function read(path: string, init?: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetchOnServerClock(`/api/auth/${path}`, { cache: 'no-store', ...init }).catch(() => undefined)
  if (!response) throw noAnswer()
  const answer: unknown = await response.json().catch(() => undefined)
  if (typeof answer !== 'object' || answer === null) throw noAnswer(UNREADABLE)
  return answer as Record<string, unknown>
}
