import { AppError } from '@/contract/errors'
import type { Context, PendingChange, SystemContext } from '../context'
import { equalsAsText, statement } from '../sql'

export const isExhausted = (ctx: SystemContext, change: { attempts: number }): boolean =>
  change.attempts >= ctx.limits.codeAttempts

export const isExpired = (ctx: SystemContext, change: { expiresAt: Date }): boolean =>
  change.expiresAt <= ctx.clock.now()

export const resendAvailableAt = (ctx: SystemContext, change: { sentAt: Date }): Date =>
  new Date(change.sentAt.getTime() + ctx.limits.resendCooldownMs)

/** A code expires with its message or with its request, whichever is first. */
export const codeExpiresAt = (ctx: SystemContext, sentAt: Date, requestedAt: Date): Date =>
  new Date(Math.min(sentAt.getTime() + ctx.limits.codeValidityMs, requestedAt.getTime() + ctx.limits.changeLifetimeMs))

/** The pending change with this id, if it can still be verified. Verify, resend and cancel share this order of refusals. */
export function requireOpenChange(
  ctx: Context,
  changeRequestId: string,
  change: PendingChange | null | undefined = ctx.actor.pendingChange,
): PendingChange {
  if (change?.id !== changeRequestId) throw new AppError('EMAIL_006')
  if (isExpired(ctx, change)) throw new AppError('EMAIL_004')
  if (isExhausted(ctx, change)) throw new AppError('EMAIL_005')
  return change
}

/**
 * For a change request `r` that is found by its id. Compares as text, because the planner underestimates the partial index on
 * pending rows.
 */
export const STILL_PENDING = equalsAsText('r.status', 'pending_verification')

const currentRequest = statement<{ userId: string }, PendingChange>(
  'pending-change-now',
  (
    v,
  ) => `SELECT id, new_email AS "newEmail", method, attempts, requested_at AS "requestedAt", sent_at AS "sentAt", expires_at AS "expiresAt"
   FROM email_change_requests WHERE user_id = ${v.userId} AND status = 'pending_verification'`,
)

/** The address that this change would verify; null if the change is not pending. */
export async function newAddressOf(ctx: Context, changeRequestId: string): Promise<string | null> {
  const { pendingChange, userId } = ctx.actor
  // The change may have been opened after the caller was looked up.
  const change = pendingChange?.id === changeRequestId ? pendingChange : (await ctx.sql(currentRequest, { userId }))[0]
  return change?.id === changeRequestId ? change.newEmail : null
}

/** Reads the change again, because what came with the caller may be out of date. */
export async function requireStillOpenChange(ctx: Context, changeRequestId: string): Promise<PendingChange> {
  const [change] = await ctx.sql(currentRequest, { userId: ctx.actor.userId })
  return requireOpenChange(ctx, changeRequestId, change ?? null)
}
