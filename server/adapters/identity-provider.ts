import { createHash } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import * as z from 'zod'
import { AppError } from '@/contract/errors'
import type { Clock, IdentityProvider, ProviderRequest } from '@/domain/ports'
import type { ProviderSettings } from '../settings/sign-in-settings'
import { describeError, log } from '../watch/log'
import { ALGORITHMS, isRefusal, toTime } from './outside-issuer'

const TIMEOUT_MS = 5_000
const METADATA_LIFETIME_MS = 60 * 60 * 1000
const CLOCK_TOLERANCE_SECONDS = 30

const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
})
interface Provider extends z.infer<typeof metadata> {
  keys: ReturnType<typeof createRemoteJWKSet>
}

export const wellKnownOf = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

/** Talks to the adopter's OpenID Connect provider by the authorization code flow with PKCE, state and nonce. */
export function createIdentityProvider(
  settings: ProviderSettings,
  redirectUri: string,
  clock: Clock,
): IdentityProvider {
  const { issuer, clientId, scopes, name } = settings
  let known: { provider: Promise<Provider>; until: number } | undefined

  const discover = (): Promise<Provider> => {
    if (!known || known.until <= performance.now()) {
      const provider = readMetadata(issuer)
      known = { provider, until: performance.now() + METADATA_LIFETIME_MS }
      provider.catch(() => {
        known = undefined
      })
    }
    return known.provider
  }

  return {
    name,
    reauthenticationUrl: ({ state, nonce, codeVerifier }, acr) =>
      orUnavailable(async () => {
        const url = new URL((await discover()).authorization_endpoint)
        const parameters = {
          response_type: 'code',
          client_id: clientId,
          redirect_uri: redirectUri,
          scope: scopes,
          state,
          nonce,
          code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
          code_challenge_method: 'S256',
          prompt: 'login',
          max_age: '0',
          ...(acr !== null && { acr_values: acr }),
        }
        for (const [parameter, value] of Object.entries(parameters)) url.searchParams.set(parameter, value)
        return url.href
      }),
    redeem: (answer, request) =>
      orUnavailable(async () => {
        const provider = await discover()
        const from = answer.get('iss')
        const isItsAnswer = from === null ? !provider.authorization_response_iss_parameter_supported : from === issuer
        const code = answer.get('code')
        if (!isItsAnswer || answer.get('state') !== request.state || !code) return null
        const idToken = await redeemCode(provider, settings, { code, redirectUri, codeVerifier: request.codeVerifier })
        const claims = idToken === null ? null : await readIdToken(idToken, provider.keys, settings, clock)
        if (!claims || !answersRequest(claims, request, clientId)) return null
        const { sub = '', auth_time, acr } = claims
        return { subject: sub, authenticatedAt: toTime(auth_time), acr: typeof acr === 'string' ? acr : null }
      }),
  }
}

async function readMetadata(issuer: string): Promise<Provider> {
  const response = await fetch(wellKnownOf(issuer), { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  const found = metadata.parse(await response.json())
  if (found.issuer !== issuer) throw new Error('the provider names another issuer than AUTH_OIDC_ISSUER')
  return { ...found, keys: createRemoteJWKSet(new URL(found.jwks_uri), { timeoutDuration: TIMEOUT_MS }) }
}

/** The ID token for a code; null if the provider refuses the code. */
async function redeemCode(
  provider: Provider,
  { clientId, clientSecret }: ProviderSettings,
  { code, redirectUri, codeVerifier }: { code: string; redirectUri: string; codeVerifier: string },
): Promise<string | null> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  })
  const headers: Record<string, string> = { Accept: 'application/json' }
  const methods = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  if (methods.includes('client_secret_basic')) {
    headers.Authorization = `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')}`
  } else {
    body.set('client_id', clientId)
    body.set('client_secret', clientSecret)
  }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(provider.token_endpoint, { method: 'POST', headers, body, redirect: 'error', signal })
  const answer = tokenAnswer.parse(await response.json())
  if (response.status === 400 && answer.error === 'invalid_grant') return null
  if (!response.ok) throw new Error(`the token endpoint answered ${response.status}`)
  return answer.id_token ?? null
}
const tokenAnswer = z.object({ id_token: z.string().optional(), error: z.string().optional() })

/** Client ids and secrets are encoded like this in a header (RFC 6749). */
const formEncoded = (text: string) => new URLSearchParams({ t: text }).toString().slice(2)

async function readIdToken(
  token: string,
  keys: Provider['keys'],
  { issuer, clientId }: ProviderSettings,
  clock: Clock,
): Promise<JWTPayload | null> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: clock.now(),
      requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
    })
    return payload
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** OpenID Connect Core 3.1.3.7: the token answers this request and was issued to this client. */
function answersRequest({ sub, nonce, aud, azp }: JWTPayload, request: ProviderRequest, clientId: string): boolean {
  if (typeof sub !== 'string' || sub === '' || nonce !== request.nonce) return false
  return azp === clientId || (azp === undefined && [aud].flat().length === 1)
}

/** If the provider cannot be reached, the sign-in is refused as unavailable, and not as wrong. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    log().warn({ event: 'identity_provider_unreachable', ...describeError(error) })
    throw new AppError('SERVER_002', 'The identity provider does not answer. Try again shortly.', 5)
  }
}
