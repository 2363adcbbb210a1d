import type { Purpose } from '@/contract/access'
import { AppError } from '@/contract/errors'
import type { Actor, Context, SystemContext } from '../context'
import { FRESH_SIGN_IN_MS, MAX_AHEAD_MS } from '../limits/durations'
import { boolean, sql, statement, text } from '../sql'

/**
 * Refuses a caller who has not signed in recently. It guards what cannot be undone and what outlives the session, because somebody
 * else may have found the browser signed in.
 */
export function requireFreshSignIn(ctx: Context, purpose: Purpose | 'operate'): void {
  const { kind } = ctx.actor
  if (kind === 'session' && !isSessionFresh(ctx, purpose)) {
    throw new AppError('REAUTH_001', 'This needs a sign-in of the last ten minutes. Sign in again, then repeat it.')
  }
  const isWeak =
    (kind === 'outside_token' && !isOutsideTokenFresh(ctx, purpose)) ||
    (kind === 'page_token' && !(hasRequiredAcr(ctx) && isSessionFresh(ctx, purpose)))
  if (isWeak) {
    throw new AppError('REAUTH_001', 'Get a token of a sign-in that is as fresh, and as strong, as the challenge says.')
  }
  // A withdrawal with an access token needs no fresh sign-in. For a change the token does not count as one, because its owner may
  // not be there.
  if (kind === 'access_token' && purpose === 'change') {
    throw new AppError('REAUTH_001', 'An access token does not show that the person is there. Use the pages for this.')
  }
}

/** Null if the sign-in of the session does not count for this. */
export function freshUntil({ actor }: Context, purpose: Purpose | 'operate'): Date | null {
  const { authenticatedAt, authenticatedFor } = actor
  if (!authenticatedAt || (authenticatedFor && authenticatedFor !== purpose)) return null
  return new Date(authenticatedAt.getTime() + FRESH_SIGN_IN_MS)
}

function isSessionFresh(ctx: Context, purpose: Purpose | 'operate'): boolean {
  const until = freshUntil(ctx, purpose)
  return until !== null && ctx.clock.now() <= until
}

/** What the token says of the sign-in, which somebody else has seen. */
const hasRequiredAcr = ({ actor, freshSignIn: { requiredAcr } }: Context): boolean =>
  requiredAcr === null || actor.rowless?.acr === requiredAcr

function isOutsideTokenFresh(ctx: Context, purpose: Purpose | 'operate'): boolean {
  const { maxOutsideAgeMs } = ctx.freshSignIn
  const authenticatedAt = ctx.actor.rowless?.authenticatedAt ?? null
  if (!hasRequiredAcr(ctx)) return false
  if (maxOutsideAgeMs === null && purpose === 'withdraw') return true
  if (!authenticatedAt) return false
  const ageMs = ctx.clock.now().getTime() - authenticatedAt.getTime()
  return ageMs >= -MAX_AHEAD_MS && ageMs <= (maxOutsideAgeMs ?? FRESH_SIGN_IN_MS)
}

/** The challenge of RFC 9470 for REAUTH_001. */
export function challengeOf({ freshSignIn }: SystemContext, actor: Actor | undefined): string {
  const { maxOutsideAgeMs, requiredAcr } = freshSignIn
  const maxAgeMs = actor?.kind === 'outside_token' ? (maxOutsideAgeMs ?? FRESH_SIGN_IN_MS) : FRESH_SIGN_IN_MS
  const acr = requiredAcr === null ? '' : `, acr_values="${requiredAcr}"`
  return `Bearer error="insufficient_user_authentication", max_age=${Math.floor(maxAgeMs / 1000)}${acr}`
}

const findWays = statement(
  'find-ways-to-confirm',
  { userId: text },
  { has_password: boolean, has_external_id: boolean },
  (v) => sql`SELECT password_hash IS NOT NULL AS has_password, external_id IS NOT NULL AS has_external_id
   FROM users WHERE id = ${v.userId}`,
)

/** For a page: the ways in which the person of this session can confirm who they are. `hasPassword`: whether the password does it. */
export async function waysToConfirm(ctx: Context, purpose: Purpose) {
  const { authenticatedFor } = ctx.actor
  const [ways] = await ctx.sql(findWays, { userId: ctx.actor.userId })
  const hasExternalId = ways?.has_external_id ?? false
  // For all but a change, which takes the password itself, a sign-in by password does not count where an acr is required.
  const isTooWeak = hasExternalId && purpose !== 'change' && ctx.freshSignIn.requiredAcr !== null
  const hasPassword = !isTooWeak && (ways?.has_password ?? false)
  // A person with a password types it, unless the provider has just confirmed them for this purpose. To end sessions, a sign-in is enough.
  const isEnough = authenticatedFor === purpose || !hasPassword || purpose === 'sessions'
  const isConfirmed = isSessionFresh(ctx, purpose) && isEnough
  return {
    hasPassword,
    provider: hasExternalId ? (ctx.identityProvider?.name ?? null) : null,
    confirmedUntil: isConfirmed ? (freshUntil(ctx, purpose)?.toISOString() ?? null) : null,
  }
}
