import type { NextAuthOptions, Session } from 'next-auth'
import { encode } from 'next-auth/jwt'
import Credentials from 'next-auth/providers/credentials'
import type { OAuthConfig } from 'next-auth/providers/oauth'
import { lengthOf } from '@/contract/define'
import { MAX_PASSWORD_LENGTH } from '@/contract/email'
import { AppError } from '@/contract/errors'
import type { BucketState, SystemContext } from '@/domain/context'
import { signIn } from '@/domain/passwords/sign-in'
import type { IdTokenClaims } from '@/domain/ports'
import { signInWithProvider } from '@/domain/sessions/sign-in-with-provider'
import { type Browser, signOut } from '@/domain/sessions/sign-ins'
import { logEventOf } from '../adapters/database-away'
import { wellKnownOf } from '../adapters/identity-provider'
import { clientIpOf } from '../http/client-ip'
import { cookieName } from '../http/cookies'
import { getEnv } from '../settings/env'
import type { ProviderSettings } from '../settings/sign-in-settings'
import { systemContext } from '../system-context'
import { describeError, log } from '../watch/log'
import type { SignInDevice } from './device-cookie'
import { decodeCookie, SESSION_COOKIE, sessionOf, sessionSeconds } from './session-cookie'

const browserOf = (headers: Headers): Browser => ({
  userAgent: headers.get('User-Agent') ?? '',
  ip: clientIpOf(headers),
})

let options: Omit<NextAuthOptions, 'providers'> | undefined

/**
 * Options of next-auth. The cookie only names a session row, which is looked up on every call. A sign-in adds its limits to `buckets`,
 * and says in `device` that it succeeded.
 */
export function authOptions(
  buckets: BucketState[] = [],
  request?: Request,
  device: SignInDevice = { value: undefined, isSignedIn: false },
): NextAuthOptions {
  options ??= createOptions()
  const { hasPasswordSignIn, identityProvider } = getEnv()
  const headers = request?.headers ?? new Headers()
  return {
    ...options,
    providers: [
      ...(hasPasswordSignIn ? [byPassword(buckets, device, request?.signal)] : []),
      ...(identityProvider ? [byProvider(identityProvider)] : []),
    ],
    callbacks: {
      ...options.callbacks,
      signIn: (attempt) => admitFromProvider(attempt, headers, device),
    },
    events: {
      async signOut({ token }) {
        if (!token?.sid) return
        await signOut(systemContext(), token.sid, browserOf(headers))
        log().info({ event: 'signed_out', userId: token.sub })
      },
    },
  }
}

function createOptions(): Omit<NextAuthOptions, 'providers'> {
  const env = getEnv()
  const secure = env.appUrl.startsWith('https:')
  const cookie = (name: string) => ({
    name: cookieName(env.appUrl, name),
    options: { httpOnly: true, sameSite: 'lax' as const, path: '/', secure },
  })
  return {
    secret: env.authSecrets[0],
    session: { strategy: 'jwt', maxAge: sessionSeconds() },
    pages: { signIn: '/sign-in', error: '/sign-in' },
    cookies: {
      sessionToken: cookie(SESSION_COOKIE),
      csrfToken: cookie('next-auth.csrf-token'),
      callbackUrl: cookie('next-auth.callback-url'),
      pkceCodeVerifier: cookie('next-auth.pkce.code_verifier'),
      state: cookie('next-auth.state'),
      nonce: cookie('next-auth.nonce'),
    },
    jwt: { encode, decode: decodeCookie },
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
    logger: {
      // Whoever cancels at the identity provider is no fault of the service.
      error: (code) => log()[code === 'OAUTH_CALLBACK_ERROR' ? 'warn' : 'error']({ event: 'sign_in_error', code }),
      warn: (code) => log().warn({ event: 'sign_in_warning', code }),
      debug: () => {},
    },
  }
}

const byPassword = (buckets: BucketState[], device: SignInDevice, signal: AbortSignal | undefined) =>
  Credentials({
    credentials: { email: {}, password: {} },
    async authorize(credentials, request) {
      const headers = new Headers(request.headers as Record<string, string>)
      const signedIn = await checkCredentials(
        { ...systemContext(), buckets, clientGone: () => signal },
        credentials,
        headers,
        device,
      )
      return signedIn && { id: signedIn.userId, sessionId: signedIn.sessionId }
    },
  })

/**
 * next-auth makes state, nonce and PKCE. The answer is read as that of a re-authentication, because next-auth knows one algorithm of
 * ID tokens alone.
 */
const byProvider = ({
  issuer,
  clientId,
  clientSecret,
  scopes,
  name,
}: ProviderSettings): OAuthConfig<IdTokenClaims> => ({
  id: 'oidc',
  name,
  type: 'oauth',
  wellKnown: wellKnownOf(issuer),
  issuer,
  clientId,
  clientSecret,
  // With a maximum age, a provider must put the time of the sign-in into the ID token. It is the lifetime of our sessions.
  authorization: { params: { scope: scopes, max_age: sessionSeconds() } },
  checks: ['pkce', 'state', 'nonce'],
  httpOptions: { timeout: 5_000 },
  token: {
    async request({ params, checks }) {
      const { state = '', code_verifier: codeVerifier = '' } = checks
      const nonce = 'nonce' in checks ? (checks.nonce ?? '') : ''
      const answer = new URLSearchParams(params as Record<string, string>)
      const claims = await systemContext().identityProvider?.redeem(answer, { state, nonce, codeVerifier })
      if (!claims) throw new Error('the answer of the identity provider is not valid')
      return { tokens: { verified: claims } }
    },
  },
  userinfo: { request: async ({ tokens }) => tokens.verified as object },
  profile: ({ subject }) => ({ id: subject, sessionId: '' }),
})

type SignInCallback = NonNullable<NextAuthOptions['callbacks']>['signIn']
type Attempt = Parameters<NonNullable<SignInCallback>>[0]

/** Connects the provider's answer with an account, or leads to a sentence that says why not. A password was checked before. */
async function admitFromProvider(
  { user, account, profile }: Attempt,
  headers: Headers,
  device: SignInDevice,
): Promise<boolean | string> {
  if (account?.provider !== 'oidc') return true
  const claims = profile as unknown as IdTokenClaims
  try {
    const signedIn = await signInWithProvider(systemContext(), {
      ...claims,
      ...browserOf(headers),
      device: device.value,
      replaces: await sessionOf(headers),
    })
    log().info({ event: signedIn ? 'signed_in' : 'sign_in_refused', by: 'oidc', userId: signedIn?.userId })
    if (!signedIn) return '/sign-in?error=NoAccount'
    device.isSignedIn = true
    user.id = signedIn.userId
    Object.assign(user, { sessionId: signedIn.sessionId })
    return true
  } catch (error) {
    log().error({ event: 'sign_in_failed', ...describeError(error) })
    return '/sign-in?error=Unavailable'
  }
}

async function checkCredentials(
  ctx: SystemContext & { buckets: BucketState[] },
  credentials: Record<string, string> | undefined,
  headers: Headers,
  device: SignInDevice,
) {
  const { email, password } = credentials ?? {}
  if (typeof email !== 'string' || typeof password !== 'string') return null
  if (!password || lengthOf(password) > MAX_PASSWORD_LENGTH) return null
  try {
    const browser = { ...browserOf(headers), device: device.value }
    const signedIn = await signIn(ctx, { email, password, ...browser, replaces: await sessionOf(headers) })
    device.isSignedIn = signedIn !== null
    log().info({ event: signedIn ? 'signed_in' : 'sign_in_refused', by: 'password', userId: signedIn?.userId })
    return signedIn
  } catch (error) {
    if (error instanceof AppError) {
      log().info({ event: 'sign_in_refused', by: 'password', code: error.code })
      throw new Error(`${error.code}:${error.retryAfterSeconds ?? ''}`)
    }
    log().error({ event: 'sign_in_failed', ...describeError(error) })
    throw new Error(logEventOf(error) === 'unexpected_error' ? 'SERVER_001:' : 'SERVER_002:5')
  }
}
