'use client'

import { ApiError, ERRORS, isErrorCode, noAnswer } from '@/contract/errors'

// Not next-auth's own client: where the service or a proxy on the way fails, it leaves the page.

/** Starts a session in this browser; a refusal is EMAIL_007 for a wrong address or password, else what the service says. */
export async function signInHere(email: string, password: string): Promise<void> {
  const error = (await post('callback/credentials', { email, password })).searchParams.get('error')
  if (error === 'CredentialsSignin') throw new ApiError('EMAIL_007', ERRORS.EMAIL_007.details, 401)
  const [code = '', seconds] = error?.split(':') ?? []
  if (isErrorCode(code))
    throw new ApiError(code, ERRORS[code].details, ERRORS[code].status, Number(seconds) || undefined)
  if (error !== null) throw noAnswer()
}

/** Where this browser goes to sign in at the identity provider. */
export async function providerSignInUrl(): Promise<string> {
  const url = await post('signin/oidc', {})
  // It leads back here where the provider cannot be asked.
  if (url.origin === window.location.origin) throw noAnswer()
  return url.href
}

/** Ends this browser's session. */
export async function endSessionHere(): Promise<void> {
  await post('signout', {})
}

/** The address that next-auth answers with; a refusal stands in its `error`. */
async function post(action: string, fields: Record<string, string>): Promise<URL> {
  const { csrfToken } = await read('csrf')
  const body = new URLSearchParams({ ...fields, csrfToken: String(csrfToken), json: 'true' })
  const { url } = await read(action, { method: 'POST', body })
  if (!URL.canParse(String(url))) throw noAnswer()
  const answer = new URL(String(url))
  // Refused unread: the cookie that belongs to the token did not come with it.
  if (answer.searchParams.has('csrf')) throw noAnswer()
  return answer
}

async function read(path: string, init?: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(`/api/auth/${path}`, { cache: 'no-store', ...init }).catch(() => undefined)
  const answer: unknown = await response?.json().catch(() => undefined)
  if (typeof answer !== 'object' || answer === null) throw noAnswer()
  return answer as Record<string, unknown>
}
