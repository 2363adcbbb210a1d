import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { GRANTABLE_SCOPES, type GrantableScope, isStorable } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Clock, OutsideIssuer } from '@/domain/ports'
import type { IssuerSettings } from '../env'
import { describeError, log } from '../watch/log'

const TIME_OUT_MS = 3_000
/** Asymmetric only: with a public key at hand, a symmetric algorithm would let anyone sign. */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
const CLOCK_TOLERANCE_SECONDS = 30
/** The year 9999: a later time is none that the database can keep. */
const MAX_SECONDS = 253_402_300_799

/** Access tokens (RFC 9068, `typ: at+jwt`) of one issuer, checked as RFC 8725 asks. Keys come from the configured URL alone. */
export function createOutsideIssuer({ jwksUrl, issuer, audience }: IssuerSettings, clock: Clock): OutsideIssuer {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: TIME_OUT_MS, cooldownDuration: 30_000 })
  return {
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
        if (!isUserId(payload.sub) || !payload.exp) return null
        return {
          userId: payload.sub,
          scopes: toScopes(payload.scope),
          expiresAt: new Date(payload.exp * 1000),
          authenticatedAt: toTime(payload.auth_time),
          acr: typeof payload.acr === 'string' ? payload.acr : null,
        }
      } catch (error) {
        if (isRefusal(error)) return null
        // An issuer that cannot be asked is no reason to let anyone in, nor to call a good token bad.
        log().warn({ event: 'outside_issuer_unreachable', ...describeError(error) })
        throw new AppError('SERVER_002', undefined, 5)
      }
    },
  }
}

/** The library looks only whether there is one. */
const isUserId = (sub: unknown): sub is string => typeof sub === 'string' && sub !== '' && isStorable(sub)

/** The token's fault, rather than the issuer's or the network's. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  !(error instanceof errors.JWKSInvalid) &&
  !(error instanceof errors.JWKInvalid) &&
  error.code !== 'ERR_JOSE_GENERIC'

/** Of `auth_time`: RFC 9068 has whole seconds, and nothing else says when the person was asked. */
export const toTime = (claim: unknown): Date | null =>
  Number.isInteger(claim) && Math.abs(Number(claim)) <= MAX_SECONDS ? new Date(Number(claim) * 1000) : null

/** The `scope` claim is a list separated by spaces, of some issuers an array; what we do not know, and what no token may hold, is left out. */
const toScopes = (claim: unknown): GrantableScope[] => {
  const names: unknown[] = typeof claim === 'string' ? claim.split(' ') : [claim].flat()
  return GRANTABLE_SCOPES.filter((scope) => names.includes(scope))
}
