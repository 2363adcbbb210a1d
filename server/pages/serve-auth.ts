import NextAuth, { type Session } from 'next-auth'
import { ERRORS, isErrorCode } from '@/contract/errors'
import type { BucketState } from '@/domain/context'
import { authenticateSession } from '@/domain/sessions/authenticate'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { logEventOf } from '../adapters/database-away'
import { answer } from '../http/answer'
import { answerInvalidJson } from '../http/invalid-json'
import { rateLimitHeaders } from '../http/rate-limit-headers'
import { getEnv } from '../settings/env'
import { systemContext } from '../system-context'
import { describeError, log } from '../watch/log'
import { deviceCookie, deviceOf } from './device-cookie'
import { withAttempt, withoutAttempt } from './provider-attempts'
import { answerReauthentication, isReauthentication } from './reauthentication'
import { authOptions } from './sign-in'

/** The answer of /api/auth/session. */
interface SessionAnswer {
  user: { id: string; name: string; email: string }
  sessionId: string
  /** A token for /api/v1, valid for at most ten minutes. Pages keep it in memory only. */
  accessToken: string
  accessTokenExpiresAt: string
}

/** The routes of next-auth. next-auth only decodes the cookie, because it would treat a failed look-up of the session as signed out. */
export async function serveAuth(
  request: Request,
  context: { params: Promise<{ nextauth: string[] }> },
): Promise<Response> {
  const [action, provider] = (await context.params).nextauth
  // next-auth would write the body of any such request into the log.
  if (action === '_log') return new Response(null, { status: 404 })
  const isOidc = provider === 'oidc' && getEnv().identityProvider !== undefined
  // The provider sends the browser back with a GET. A HEAD must not use up the answer.
  const method = isOidc ? 'GET' : 'POST'
  if (action === 'callback' && request.method !== method) {
    return new Response(null, { status: 405, headers: { Allow: method } })
  }
  if (action === 'callback' && isOidc && isReauthentication(request)) return answerReauthentication(request)
  const buckets: BucketState[] = []
  const device = deviceOf(request.headers)
  const options = authOptions(buckets, request, device)
  const answered: Response = await NextAuth(request as never, context as never, options).catch(answerInvalidJson(400))
  const response = device.isSignedIn ? withHeader(answered, 'Set-Cookie', deviceCookie(device)) : answered
  if (action === 'callback' && isOidc) return withoutAttempt(leadOnwards(response), request)
  if (action === 'signin' && isOidc) return withAttempt(response, request.headers.get('Cookie') ?? '')
  if (action === 'session' && response.ok) return answerSession(response)
  // No page of the account stays in the browser's cache.
  if (action === 'signout' && request.method === 'POST') return withHeader(response, 'Clear-Site-Data', '"cache"')
  return action === 'callback' ? withLimits(response, buckets) : response
}

function withHeader(response: Response, name: string, value: string): Response {
  const headers = new Headers(response.headers)
  headers.append(name, value)
  return new Response(response.body, { status: response.status, headers })
}

/** next-auth would lead to the front page, but only the browser knows where the person was going. */
function leadOnwards(response: Response): Response {
  const { appUrl } = getEnv()
  const location = response.headers.get('Location') ?? ''
  if (![appUrl, `${appUrl}/`].includes(location)) return response
  const headers = new Headers(response.headers)
  headers.set('Location', `${appUrl}/sign-in/return`)
  return new Response(null, { status: response.status, headers })
}

/** Sets status and headers of a refusal. next-auth reports what `checkCredentials` threw in a URL: `error=RATE_001:900`. */
async function withLimits(response: Response, buckets: BucketState[]): Promise<Response> {
  const headers = new Headers(response.headers)
  const limits = rateLimitHeaders(buckets, systemContext().clock.now())
  for (const [name, value] of Object.entries(limits)) headers.set(name, value)
  const location = response.headers.get('Location')
  const text = location ?? (await response.clone().text())
  const [, code = '', seconds = ''] = /[?&]error=([A-Z]+_\d+)%3A(\d*)/.exec(text) ?? []
  if (seconds && isErrorCode(code)) headers.set('Retry-After', seconds)
  const status = isErrorCode(code) && !location ? ERRORS[code].status : response.status
  return new Response(response.body, { status, headers })
}

async function answerSession(response: Response): Promise<Response> {
  const { sessionId } = (await response.json()) as Partial<Session>
  try {
    const described = sessionId ? await describeSession(sessionId) : null
    const headers = new Headers(response.headers)
    // next-auth writes the cookie anew. Beside a sign-in in another tab that would put the session back that the sign-in replaced.
    headers.delete('Set-Cookie')
    return new Response(JSON.stringify(described ?? {}), { status: response.status, headers })
  } catch (error) {
    const event = logEventOf(error)
    log().error({ event, operation: 'session', ...describeError(error) })
    if (event === 'unexpected_error') return answer(500, {})
    const refusal = answer(503, {})
    refusal.headers.set('Retry-After', '5')
    return refusal
  }
}

/** Null when the session has ended or the account is withdrawn. */
async function describeSession(sessionId: string): Promise<SessionAnswer | null> {
  const ctx = systemContext()
  const actor = await authenticateSession(ctx, sessionId)
  if (!actor) return null
  const { token, expiresAt } = createSessionToken(ctx, actor.id)
  return {
    user: { id: actor.userId, name: actor.user.name, email: actor.user.email },
    sessionId: actor.id,
    accessToken: token,
    accessTokenExpiresAt: expiresAt.toISOString(),
  }
}
