import { AppError, RULES } from '@/contract/errors'
import type { Actor, Context } from '../context'
import { statement } from '../sql'

export interface CallerValues {
  callerId: string
  callerKind: string
  /** When the outside token was issued; it is refused if all access was ended since. */
  callerIssuedAt: Date | null
}

export const callerValues = ({ id, kind, outsideToken }: Actor): CallerValues => ({
  callerId: id,
  callerKind: kind,
  callerIssuedAt: outsideToken?.issuedAt ?? null,
})

/** A condition on a row of `users`: the caller's credential is an outside token that was issued since all access was ended last. */
export const isOutsideTokenLive = (v: { callerKind: string; callerIssuedAt: string }) =>
  `(${v.callerKind} = 'outside_token' AND (credentials_since IS NULL OR ${v.callerIssuedAt}::timestamptz >= credentials_since))`

/** A condition on a row of `users`: the caller's credential has not ended since it was checked. */
export const isCallerLive = (v: { callerId: string; callerKind: string; callerIssuedAt: string }) =>
  `(${isOutsideTokenLive(v)}
    OR EXISTS (SELECT FROM sessions WHERE id = ${v.callerId} AND revoked_at IS NULL)
    OR EXISTS (SELECT FROM access_tokens WHERE id = ${v.callerId} AND revoked_at IS NULL))`

const findLiveAccount = statement<{ userId: string } & CallerValues>(
  'find-live-account',
  (v) => `SELECT FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL AND ${isCallerLive(v)}`,
)

/** The refusal for a write that changed nothing because account, credential or password ended after the check. */
export async function refusalOfEnded(ctx: Context): Promise<AppError> {
  const [live] = await ctx.sql(findLiveAccount, { userId: ctx.actor.userId, ...callerValues(ctx.actor) })
  if (!live) return new AppError('AUTH_001')
  return new AppError('EMAIL_007', RULES.passwordChanged)
}
