import type { Data } from '@/contract/define'
import type { getEmailStatus as contract } from '@/contract/email'
import type { Context, PendingChange, SystemContext } from '../context'
import { isExhausted, isExpired, resendAvailableAt } from './pending-change'

const NOTHING_PENDING = {
  has_pending: false,
  new_email: null,
  requested_at: null,
  expires_at: null,
  change_request_id: null,
  verification_method: null,
  attempts_remaining: null,
  resend_available_at: null,
}

/** Everything it tells came with the statement that checked the token. */
export async function getEmailStatus(ctx: Context): Promise<Data<typeof contract>> {
  const { user, pendingChange } = ctx.actor
  return {
    current_email: user.email,
    email_verified: user.emailVerifiedAt !== null,
    verified_at: user.emailVerifiedAt?.toISOString() ?? null,
    pending_change: describePendingChange(ctx, pendingChange),
  }
}

/** One that has expired or is exhausted counts as none. */
export function describePendingChange(
  ctx: SystemContext,
  change: PendingChange | null,
): Data<typeof contract>['pending_change'] {
  if (!change || isExpired(ctx, change) || isExhausted(ctx, change)) return NOTHING_PENDING
  return {
    has_pending: true,
    new_email: change.newEmail,
    requested_at: change.requestedAt.toISOString(),
    expires_at: change.expiresAt.toISOString(),
    change_request_id: change.id,
    verification_method: change.method,
    attempts_remaining: ctx.limits.codeAttempts - change.attempts,
    resend_available_at: resendAvailableAt(ctx, change).toISOString(),
  }
}
