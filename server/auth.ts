import NextAuth, { type NextAuthOptions, type Session } from 'next-auth'
import { decode, encode } from 'next-auth/jwt'
import Credentials from 'next-auth/providers/credentials'
import { AppError } from '@/contract/errors'
import { authenticateSession, createSessionToken } from '@/domain/access/authenticate'
import { signOut, touchSession } from '@/domain/access/sessions'
import { signIn } from '@/domain/access/sign-in'
import { clientIpOf } from './client-ip'
import { systemContext } from './context'
import { isDatabaseAway } from './database-away'
import { getEnv } from './env'
import { describeError, log } from './log'

let options: NextAuthOptions | undefined

/** The cookie only names a session row, which is looked up on every call. */
export function authOptions(): NextAuthOptions {
  options ??= createOptions()
  return options
}

function createOptions(): NextAuthOptions {
  const env = getEnv()
  const secure = env.appUrl.startsWith('https:')
  const cookie = (name: string) => ({
    name: `${secure ? '__Host-' : ''}next-auth.${name}`,
    options: { httpOnly: true, sameSite: 'lax' as const, path: '/', secure },
  })
  return {
    secret: env.authSecrets[0],
    session: { strategy: 'jwt', maxAge: 30 * 24 * 60 * 60 },
    pages: { signIn: '/sign-in', error: '/sign-in' },
    cookies: {
      sessionToken: cookie('session-token'),
      csrfToken: cookie('csrf-token'),
      callbackUrl: cookie('callback-url'),
    },
    jwt: {
      encode,
      // With a rotated secret older cookies stay good until they end.
      async decode(params) {
        for (const secret of env.authSecrets) {
          const token = await decode({ ...params, secret }).catch(() => null)
          if (token) return token
        }
        return null
      },
    },
    providers: [
      Credentials({
        credentials: { email: {}, password: {} },
        async authorize(credentials, request) {
          const signedIn = await checkCredentials(credentials, new Headers(request.headers as Record<string, string>))
          return signedIn && { id: signedIn.userId, sessionId: signedIn.sessionId }
        },
      }),
    ],
    callbacks: {
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

async function checkCredentials(credentials: Record<string, string> | undefined, headers: Headers) {
  const { email, password } = credentials ?? {}
  if (typeof email !== 'string' || typeof password !== 'string' || !password || password.length > 1024) return null
  try {
    const ip = clientIpOf(headers)
    const signedIn = await signIn(systemContext(), { email, password, userAgent: headers.get('User-Agent') ?? '', ip })
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

/** What a page gets for its cookie. */
interface SessionAnswer {
  user: { id: string; name: string; email: string }
  sessionId: string
  /** Opens /api/v1 for this session, ten minutes at most; kept in memory only. */
  accessToken: string
  accessTokenExpiresAt: string
}

/** The routes of next-auth. Of a session it reads the cookie alone: it takes a row that cannot be looked up for one that is gone. */
export async function serveAuth(
  request: Request,
  context: { params: Promise<{ nextauth: string[] }> },
): Promise<Response> {
  const response: Response = await NextAuth(request as never, context as never, authOptions()).catch(refuseMalformed)
  const isSession = (await context.params).nextauth[0] === 'session' && response.ok
  return isSession ? answerSession(response) : response
}

/** next-auth reads a body as the JSON it says it is. */
function refuseMalformed(error: unknown): Response {
  if (error instanceof SyntaxError) return new Response(null, { status: 400 })
  throw error
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

/** Null when it was ended, or its account withdrawn. */
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
