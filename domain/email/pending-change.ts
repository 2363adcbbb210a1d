import { AppError, type ErrorCode } from '@/contract/errors'
import { type Context, type PendingChange, type SystemContext, statement } from '../context'

export const isExhausted = (ctx: SystemContext, change: { attempts: number }): boolean =>
  change.attempts >= ctx.limits.codeAttempts

export const isExpired = (ctx: SystemContext, change: { expiresAt: Date }): boolean =>
  change.expiresAt <= ctx.clock.now()

export const resendAvailableAt = (ctx: SystemContext, change: { sentAt: Date }): Date =>
  new Date(change.sentAt.getTime() + ctx.limits.resendCooldownMs)

/** A code lives from its message, a request from its start: whichever ends first. */
export const codeExpiresAt = (ctx: SystemContext, sentAt: Date, requestedAt: Date): Date =>
  new Date(Math.min(sentAt.getTime() + ctx.limits.codeValidityMs, requestedAt.getTime() + ctx.limits.changeLifetimeMs))

/** The caller's pending change with this id, if it can still be verified. One order of refusals for verify, resend and cancel. */
export function requireOpenChange(ctx: Context, changeRequestId: string): PendingChange {
  const change = ctx.actor.pendingChange
  if (change?.id !== changeRequestId) throw new AppError('EMAIL_006')
  if (isExpired(ctx, change)) throw new AppError('EMAIL_004')
  if (isExhausted(ctx, change)) throw new AppError('EMAIL_005')
  return change
}

/**
 * Where a request is found by its id. As text, as the index of the pending ones would be read whole by a plan from a time
 * when there were few.
 */
export const STILL_PENDING = `status::text = 'pending_verification'`

const currentRequest = statement(
  'pending-change-now',
  `SELECT id, new_email AS "newEmail", method, attempts, requested_at AS "requestedAt", sent_at AS "sentAt", expires_at AS "expiresAt"
   FROM email_change_requests WHERE user_id = $1 AND status = 'pending_verification'`,
)

/** The refusal as it stands now, as what came with the caller may be out of date; `otherwise` if still open. */
export async function refusalNow(ctx: Context, changeRequestId: string, otherwise: ErrorCode): Promise<AppError> {
  const [pendingChange = null] = await ctx.sql<PendingChange>(currentRequest, [ctx.actor.userId])
  try {
    requireOpenChange({ ...ctx, actor: { ...ctx.actor, pendingChange } }, changeRequestId)
  } catch (refusal) {
    if (refusal instanceof AppError) return refusal
    throw refusal
  }
  return new AppError(otherwise)
}
