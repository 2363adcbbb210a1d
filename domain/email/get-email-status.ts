import type { Data } from '@/contract/define'
import type { getEmailStatus as contract } from '@/contract/email'
import type { Context } from '../context'
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
  const { user, pendingChange: change } = ctx.actor
  const open = change && !isExpired(ctx, change) && !isExhausted(ctx, change)
  return {
    current_email: user.email,
    email_verified: user.emailVerifiedAt !== null,
    verified_at: user.emailVerifiedAt?.toISOString() ?? null,
    pending_change: open
      ? {
          has_pending: true,
          new_email: change.newEmail,
          requested_at: change.requestedAt.toISOString(),
          expires_at: change.expiresAt.toISOString(),
          change_request_id: change.id,
          verification_method: change.method,
          attempts_remaining: ctx.limits.codeAttempts - change.attempts,
          resend_available_at: resendAvailableAt(ctx, change).toISOString(),
        }
      : NOTHING_PENDING,
  }
}
