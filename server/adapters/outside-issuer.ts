import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { GRANTABLE_SCOPES, type GrantableScope, isStorable } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Clock, OutsideIssuer } from '@/domain/ports'
import type { IssuerSettings } from '../env'
import { describeError, log } from '../watch/log'

const TIME_OUT_MS = 3_000
/** Asymmetric algorithms only: with a symmetric one, anyone could sign with the public key. */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
const CLOCK_TOLERANCE_SECONDS = 30
/** The year 9999; the database cannot store a later time. */
const MAX_SECONDS = 253_402_300_799

/** Access tokens (RFC 9068, `typ: at+jwt`) of one issuer, checked as RFC 8725 asks. Keys come from the configured URL alone. */
export function createOutsideIssuer(
  { jwksUrl, issuer, audience, subjectIs }: IssuerSettings,
  clock: Clock,
): OutsideIssuer {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: TIME_OUT_MS, cooldownDuration: 30_000 })
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
        if (!isSubject(sub) || !exp || !isStorableTime(iat)) return null
        return {
          subject: sub,
          scopes: toScopes(scope),
          expiresAt: new Date(exp * 1000),
          issuedAt: typeof iat === 'number' ? new Date(iat * 1000) : null,
          authenticatedAt: toTime(auth_time),
          acr: typeof acr === 'string' ? acr : null,
        }
      } catch (error) {
        if (isRefusal(error)) return null
        // While the issuer's keys cannot be fetched, the token is neither accepted nor called invalid.
        log().warn({ event: 'outside_issuer_unreachable', ...describeError(error) })
        throw new AppError('SERVER_002', undefined, 5)
      }
    },
  }
}

/** The library checks only that it is a number. */
const isStorableTime = (iat: number | undefined) => iat === undefined || Math.abs(iat) <= MAX_SECONDS

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
