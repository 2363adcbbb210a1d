import { AppError, RULES } from '@/contract/errors'
import type { Actor, AnyContext, Context } from '../context'
import { isLinkLive } from '../mail/linked-account'
import { boolean, sql, statement, text } from '../sql'
import { CREDENTIAL_STATE, isOutdated } from './rowless-token'

// The caller's row is locked after the account's, as by every statement that ends the caller. A service token is not locked: the calls of
// all its pages would wait for one another, and its end sweeps nothing up that they could have begun.
const findLiveAccount = statement(
  'find-live-account',
  { userId: text, callerId: text },
  { ...CREDENTIAL_STATE, has_row: boolean },
  (v) => sql`SELECT created_at, credentials_since, credential_version,
     EXISTS (SELECT FROM sessions WHERE id = ${v.callerId} AND revoked_at IS NULL FOR SHARE)
     OR EXISTS (SELECT FROM access_tokens WHERE id = ${v.callerId} AND revoked_at IS NULL FOR SHARE)
     OR EXISTS (SELECT FROM service_tokens WHERE id = ${v.callerId} AND revoked_at IS NULL) AS has_row
   FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL`,
)

/** A transaction holds the account's lock, so that whoever ends the caller comes before this or waits. */
export async function isStillLive(ctx: AnyContext, actor: Actor): Promise<boolean> {
  if (actor.link) return isLinkLive(ctx, 'withdrawal_requested', actor.link)
  const { userId, id: callerId, rowless } = actor
  const [account] = await ctx.sql(findLiveAccount, { userId, callerId })
  if (!account) return false
  const hasRow = !rowless || rowless.issuedBy !== undefined
  return (!hasRow || account.has_row) && (!rowless || !isOutdated(account, rowless))
}

/** The refusal for a write that changed nothing because account, credential or password ended after the check. */
export async function refusalOfEnded(ctx: Context): Promise<AppError> {
  if (!(await isStillLive(ctx, ctx.actor))) return new AppError('AUTH_001')
  return new AppError('EMAIL_007', RULES.passwordChanged)
}
