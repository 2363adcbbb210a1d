import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
  jwksCache,
  jwtVerify,
} from 'jose'
import { GRANTABLE_SCOPES, type GrantableScope, isStorable } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Clock, OutsideIssuer } from '@/domain/ports'
import type { IssuerSettings } from '../settings/sign-in-settings'
import { describeError, log } from '../watch/log'

const TIMEOUT_MS = 3_000
/** Asymmetric algorithms only: with a symmetric one, anyone could sign with the public key. */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const CLOCK_TOLERANCE_SECONDS = 30
/** The clock of an issuer may be ahead. A token from the far future would outlive the end of all access. */
const MAX_AHEAD_SECONDS = 300
/** The year 9999; the database cannot store a later time. */
const MAX_SECONDS = 253_402_300_799

/** Access tokens (RFC 9068, `typ: at+jwt`) of one issuer, checked as RFC 8725 asks. Keys come from the configured URL alone. */
export function createOutsideIssuer(
  { jwksUrl, issuer, audience, subjectIs }: IssuerSettings,
  clock: Clock,
): OutsideIssuer {
  const keys = keptKeys(new URL(jwksUrl))
  return {
    subjectIs,
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          typ: 'at+jwt',
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: clock.now(),
          requiredClaims: ['sub', 'exp'],
        })
        const { sub, exp, iat, scope, acr, auth_time } = payload
        const latest = clock.now().getTime() / 1000 + MAX_AHEAD_SECONDS
        if (!isSubject(sub) || !exp || !isTimeOfIssue(iat, latest)) return null
        return {
          subject: sub,
          scopes: toScopes(scope),
          expiresAt: new Date(Math.min(exp, MAX_SECONDS) * 1000),
          issuedAt: typeof iat === 'number' ? new Date(iat * 1000) : null,
          authenticatedAt: toTime(auth_time),
          acr: typeof acr === 'string' ? acr : null,
        }
      } catch (error) {
        if (isRefusal(error)) return null
        // While the issuer's keys cannot be fetched, the token is neither accepted nor called invalid.
        throw new AppError('SERVER_002', undefined, 5)
      }
    },
  }
}

/** The time for which the last keys are used while their address is away. A key that the issuer revokes meanwhile is accepted as long. */
const MAX_STALE_MS = 24 * 60 * 60 * 1000
/** The time in which no call waits again for an address that did not answer. */
const PAUSE_MS = 30_000

/** The keys at this address, fetched anew from time to time. The last ones outlive an outage of the address. */
function keptKeys(url: URL): JWTVerifyGetKey {
  const cache: JWKSCacheInput = {}
  const remote = createRemoteJWKSet(url, {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: PAUSE_MS,
    [jwksCache]: cache,
  })
  let outage: { error: unknown; until: number } | undefined
  return async (header, token) => {
    if (!outage || outage.until <= Date.now()) {
      try {
        const key = await remote(header, token)
        outage = undefined
        return key
      } catch (error) {
        if (isRefusal(error)) throw error
        log().warn({ event: 'outside_issuer_unreachable', ...describeError(error) })
        outage = { error, until: Date.now() + PAUSE_MS }
      }
    }
    const { jwks, uat = 0 } = cache
    if (!jwks || uat + MAX_STALE_MS <= Date.now()) throw outage.error
    try {
      return await createLocalJWKSet(jwks)(header, token)
    } catch (error) {
      // It may be one of the keys that cannot be fetched now.
      throw error instanceof errors.JWKSNoMatchingKey ? outage.error : error
    }
  }
}

/** The library checks only that it is a number. */
const isTimeOfIssue = (iat: number | undefined, latest: number) =>
  iat === undefined || (Math.abs(iat) <= MAX_SECONDS && iat <= latest)

/** The library checks only that the claim exists. */
const isSubject = (sub: unknown): sub is string => typeof sub === 'string' && sub !== '' && isStorable(sub)

/** Whether the token itself is invalid, and not the issuer or the network at fault. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  !(error instanceof errors.JWKSInvalid) &&
  !(error instanceof errors.JWKInvalid) &&
  error.code !== 'ERR_JOSE_GENERIC'

/** For `auth_time`, which RFC 9068 defines in whole seconds. */
export const toTime = (claim: unknown): Date | null =>
  Number.isInteger(claim) && Math.abs(Number(claim)) <= MAX_SECONDS ? new Date(Number(claim) * 1000) : null

/** The `scope` claim is a list separated by spaces, or an array. Unknown scopes, and scopes that no token may hold, are left out. */
const toScopes = (claim: unknown): GrantableScope[] => {
  const names: unknown[] = typeof claim === 'string' ? claim.split(' ') : [claim].flat()
  return GRANTABLE_SCOPES.filter((scope) => names.includes(scope))
}
