import { AppError } from '@/contract/errors'
import type { AnyContext, Context, PendingChange, SystemContext } from './context'
import { type Described, equalsAsText, integer, literal, sql, statement, text, time } from './sql'

/** The pending change `p`, which may stand beside its account by an outer join. */
export const PENDING_COLUMNS = {
  change_id: text.orNull,
  new_email: text.whenJoined,
  method: text.of<PendingChange['method']>().whenJoined,
  attempts: integer.whenJoined,
  requested_at: time.whenJoined,
  sent_at: time.whenJoined,
  delivery: text.of<PendingChange['delivery']>().whenJoined,
  change_expires_at: time.whenJoined,
}

export const SELECT_PENDING = sql`p.id AS change_id, p.new_email, p.method, p.attempts, p.requested_at, p.sent_at, p.delivery, p.expires_at AS change_expires_at`

export const pendingChangeOf = (row: Described<typeof PENDING_COLUMNS>): PendingChange | null =>
  row.change_id === null
    ? null
    : {
        id: row.change_id,
        newEmail: row.new_email,
        method: row.method,
        attempts: row.attempts,
        requestedAt: row.requested_at,
        sentAt: row.sent_at,
        delivery: row.delivery,
        expiresAt: row.change_expires_at,
      }

export const isExhausted = (ctx: AnyContext, change: { attempts: number }): boolean =>
  change.attempts >= ctx.limits.codeAttempts

export const isExpired = (ctx: AnyContext, change: { expiresAt: Date }): boolean => change.expiresAt <= ctx.clock.now()

export const resendAvailableAt = (ctx: AnyContext, change: { sentAt: Date }): Date =>
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
export const STILL_PENDING = equalsAsText(sql`r.status`, literal('pending_verification'))

const currentRequest = statement(
  'pending-change-now',
  { userId: text },
  PENDING_COLUMNS,
  (v) => sql`SELECT ${SELECT_PENDING} FROM email_change_requests p
   WHERE p.user_id = ${v.userId} AND p.status = 'pending_verification'`,
)

/** Reads the change again, because what came with the caller may be out of date. */
export async function requireStillOpenChange(ctx: Context, changeRequestId: string): Promise<PendingChange> {
  const [row] = await ctx.sql(currentRequest, { userId: ctx.actor.userId })
  return requireOpenChange(ctx, changeRequestId, row ? pendingChangeOf(row) : null)
}
