import NextAuth, { type NextAuthOptions, type Session } from 'next-auth'
import { decode, encode } from 'next-auth/jwt'
import Credentials from 'next-auth/providers/credentials'
import { lengthOf } from '@/contract/define'
import { MAX_PASSWORD_LENGTH } from '@/contract/email'
import { AppError, ERRORS, isErrorCode } from '@/contract/errors'
import { authenticateSession, createSessionToken } from '@/domain/access/authenticate'
import { signOut, touchSession } from '@/domain/access/sessions'
import { signIn } from '@/domain/access/sign-in'
import type { BucketState, SystemContext } from '@/domain/context'
import { SESSION_LIFETIME_MS } from '@/domain/limits/durations'
import { systemContext } from '../context'
import { getEnv } from '../env'
import { clientIpOf } from '../http/client-ip'
import { isDatabaseAway } from '../http/database-away'
import { answerInvalidJson } from '../http/invalid-json'
import { rateLimitHeaders } from '../http/rate-limit-headers'
import { describeError, log } from '../watch/log'

let options: Omit<NextAuthOptions, 'providers'> | undefined

/** Options of next-auth. The cookie only names a session row, which is looked up on every call. A sign-in adds its limits to `buckets`. */
export function authOptions(buckets: BucketState[] = []): NextAuthOptions {
  options ??= createOptions()
  return { ...options, providers: [byPassword(buckets)] }
}

function createOptions(): Omit<NextAuthOptions, 'providers'> {
  const env = getEnv()
  const secure = env.appUrl.startsWith('https:')
  const cookie = (name: string) => ({
    name: `${secure ? '__Host-' : ''}next-auth.${name}`,
    options: { httpOnly: true, sameSite: 'lax' as const, path: '/', secure },
  })
  return {
    secret: env.authSecrets[0],
    session: { strategy: 'jwt', maxAge: SESSION_LIFETIME_MS / 1000 },
    pages: { signIn: '/sign-in', error: '/sign-in' },
    cookies: {
      sessionToken: cookie('session-token'),
      csrfToken: cookie('csrf-token'),
      callbackUrl: cookie('callback-url'),
    },
    jwt: {
      encode,
      // After a rotation of the secret, older cookies stay valid until they expire.
      async decode(params) {
        for (const secret of env.authSecrets) {
          const token = await decode({ ...params, secret }).catch(() => null)
          if (token) return token
        }
        return null
      },
    },
    callbacks: {
      // Same as next-auth's own callback, which throws on invalid URLs. In a JSON body `url` can have any type.
      redirect({ url, baseUrl }: { url: unknown; baseUrl: string }) {
        if (typeof url !== 'string') return baseUrl
        const isHere = URL.canParse(url, baseUrl) && new URL(url, baseUrl).origin === baseUrl
        return isHere ? new URL(url, baseUrl).href : baseUrl
      },
      jwt: ({ token, user }) => (user ? { sub: user.id, sid: user.sessionId } : token),
      session: ({ token }) => ({ sessionId: token.sid }) as Session,
    },
    events: {
      async signOut({ token }) {
        if (token?.sid) await signOut(systemContext(), token.sid)
      },
    },
    logger: {
      error: (code) => log().error({ event: 'sign_in_error', code }),
      warn: (code) => log().warn({ event: 'sign_in_warning', code }),
      debug: () => {},
    },
  }
}

const byPassword = (buckets: BucketState[]) =>
  Credentials({
    credentials: { email: {}, password: {} },
    async authorize(credentials, request) {
      const headers = new Headers(request.headers as Record<string, string>)
      const signedIn = await checkCredentials({ ...systemContext(), buckets }, credentials, headers)
      return signedIn && { id: signedIn.userId, sessionId: signedIn.sessionId }
    },
  })

/** The session of the current cookie, which the new session replaces. */
async function sessionBefore(headers: Headers): Promise<string | undefined> {
  const { cookies, jwt } = authOptions()
  const name = cookies?.sessionToken?.name
  const cookie = headers
    .get('Cookie')
    ?.split(/; */)
    .find((pair) => pair.startsWith(`${name}=`))
  const token = await jwt?.decode?.({ token: cookie?.slice(`${name}=`.length), secret: '' })
  return token?.sid
}

async function checkCredentials(
  ctx: SystemContext & { buckets: BucketState[] },
  credentials: Record<string, string> | undefined,
  headers: Headers,
) {
  const { email, password } = credentials ?? {}
  if (typeof email !== 'string' || typeof password !== 'string') return null
  if (!password || lengthOf(password) > MAX_PASSWORD_LENGTH) return null
  try {
    const ip = clientIpOf(headers)
    const userAgent = headers.get('User-Agent') ?? ''
    const replaces = await sessionBefore(headers)
    const signedIn = await signIn(ctx, { email, password, userAgent, ip, replaces })
    log().info({ event: signedIn ? 'signed_in' : 'sign_in_refused', userId: signedIn?.userId })
    return signedIn
  } catch (error) {
    if (error instanceof AppError) {
      log().info({ event: 'sign_in_refused', code: error.code })
      throw new Error(`${error.code}:${error.retryAfterSeconds ?? ''}`)
    }
    log().error({ event: 'sign_in_failed', ...describeError(error) })
    throw new Error(isDatabaseAway(error) ? 'SERVER_002:5' : 'SERVER_001:')
  }
}

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
  const [action] = (await context.params).nextauth
  // next-auth would write the body of any such request into the log.
  if (action === '_log') return new Response(null, { status: 404 })
  if (action === 'callback' && request.method !== 'POST') {
    return new Response(null, { status: 405, headers: { Allow: 'POST' } })
  }
  const buckets: BucketState[] = []
  const response: Response = await NextAuth(request as never, context as never, authOptions(buckets)).catch(
    answerInvalidJson(400),
  )
  if (action === 'session' && response.ok) return answerSession(response)
  return action === 'callback' ? tellLimits(response, buckets) : response
}

/** Sets status and headers of a refusal. next-auth reports what `checkCredentials` threw in a URL: `error=RATE_001:900`. */
async function tellLimits(response: Response, buckets: BucketState[]): Promise<Response> {
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
    const answer = sessionId ? await describeSession(sessionId) : null
    return new Response(JSON.stringify(answer ?? {}), { status: response.status, headers: response.headers })
  } catch (error) {
    const away = isDatabaseAway(error)
    log().error({ event: away ? 'database_away' : 'unexpected_error', operation: 'session', ...describeError(error) })
    return Response.json(
      {},
      away
        ? { status: 503, headers: { 'Cache-Control': 'no-store', 'Retry-After': '5' } }
        : { status: 500, headers: { 'Cache-Control': 'no-store' } },
    )
  }
}

/** Null when the session has ended or the account is withdrawn. */
export async function describeSession(sessionId: string): Promise<SessionAnswer | null> {
  const ctx = systemContext()
  const actor = await authenticateSession(ctx, sessionId)
  if (!actor) return null
  ctx.background(() => touchSession(ctx, actor.id))
  const { token, expiresAt } = createSessionToken(ctx, actor.id)
  return {
    user: { id: actor.userId, name: actor.user.name, email: actor.user.email },
    sessionId: actor.id,
    accessToken: token,
    accessTokenExpiresAt: expiresAt.toISOString(),
  }
}
