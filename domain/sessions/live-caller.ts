import { AppError, RULES } from '@/contract/errors'
import type { Actor, Context, SystemContext } from '../context'
import { isLinkLive } from '../mail/linked-account'
import { type Part, type Sql, sql, statement, text, time } from '../sql'

/**
 * A condition on a row of `users`: the caller's credential is an outside token that was issued since the account was created, and since
 * all its access was ended last. Issuers tell the time in whole seconds: one of the second of the creation is good, one of the second
 * of the end is not. A token that does not tell when it was issued is good until then. A page token names the end of all access that it
 * was issued after, so that no clock decides.
 */
export const isRowlessTokenLive = (v: { callerKind: Part; callerTime: Part }) =>
  sql`((${v.callerKind} = 'outside_token' AND (credentials_since IS NULL OR ${v.callerTime}::timestamptz > credentials_since)
     AND coalesce(${v.callerTime}::timestamptz >= date_trunc('second', created_at), true))
    OR (${v.callerKind} = 'page_token' AND credentials_since IS NOT DISTINCT FROM ${v.callerTime}::timestamptz))`

// The caller's row is locked after the account's, as by every statement that ends the caller.
const findLiveAccount = statement(
  'find-live-account',
  {
    userId: text,
    callerId: text,
    callerKind: text,
    /** When the outside token was issued, or the end of all access that a page token was issued after. */
    callerTime: time.orNull,
  },
  {},
  (v) => sql`SELECT FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL AND (${isRowlessTokenLive(v)}
     OR EXISTS (SELECT FROM sessions WHERE id = ${v.callerId} AND revoked_at IS NULL FOR SHARE)
     OR EXISTS (SELECT FROM access_tokens WHERE id = ${v.callerId} AND revoked_at IS NULL FOR SHARE))`,
)

/** `sql` must hold the account's lock, so that whoever ends the caller comes before this or waits. */
export async function isStillLive(ctx: SystemContext, sql: Sql, actor: Actor): Promise<boolean> {
  if (actor.link) return isLinkLive(ctx, sql, 'withdrawal_requested', actor.link)
  const { userId, id: callerId, kind: callerKind, rowless } = actor
  const callerTime = (rowless?.issuedFor ? rowless.issuedFor.since : rowless?.issuedAt) ?? null
  return (await sql(findLiveAccount, { userId, callerId, callerKind, callerTime })).length > 0
}

/** The refusal for a write that changed nothing because account, credential or password ended after the check. */
export async function refusalOfEnded(ctx: Context): Promise<AppError> {
  if (!(await isStillLive(ctx, ctx.sql, ctx.actor))) return new AppError('AUTH_001')
  return new AppError('EMAIL_007', RULES.passwordChanged)
}
