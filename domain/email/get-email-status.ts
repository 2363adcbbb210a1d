import type { Data, Input } from '@/contract/define'
import { type getEmailStatus as contract, NOTHING_PENDING } from '@/contract/email'
import type { CHANGE_STATES } from '@/contract/vocabulary'
import type { AnyContext, Context, PendingChange, SystemContext } from '../context'
import { isExhausted, isExpired, resendAvailableAt } from '../pending-change'
import { integer, type RowOf, sql, statement, text, time, type ValuesOf } from '../sql'

type ChangeRequest = RowOf<typeof findChangeRequest>

const findChangeRequest = statement(
  'find-change-request',
  { userId: text.orNull, changeId: text },
  { status: text.of<(typeof CHANGE_STATES)[number]>(), newEmail: text, attempts: integer, expiresAt: time },
  (v) => sql`SELECT status, new_email AS "newEmail", attempts, expires_at AS "expiresAt"
   FROM email_change_requests
   WHERE id = ${v.changeId} AND (${v.userId}::text IS NULL OR user_id = ${v.userId})`,
)

/** The data came with the statement that checked the token; only a change request by its id is read here. */
export async function getEmailStatus(
  ctx: Context,
  { change_request_id: changeId }: Pick<Input<typeof contract>, 'change_request_id'> = {},
): Promise<Data<typeof contract>> {
  const { user, pendingChange } = ctx.actor
  return {
    current_email: user.email,
    email_verified: user.emailVerifiedAt !== null,
    verified_at: user.emailVerifiedAt?.toISOString() ?? null,
    email_undeliverable: user.isUndeliverable,
    pending_change: describePendingChange(ctx, pendingChange),
    ...(changeId && { change_request: await describeRequest(ctx, changeId) }),
  }
}

/** Null if this user has no change with this id. Another user's change looks like an unknown one. */
async function describeRequest(ctx: Context, changeId: string): Promise<Data<typeof contract>['change_request']> {
  const request = await findRequest(ctx, { changeId, userId: ctx.actor.userId })
  return request ? { change_request_id: changeId, status: request.status, new_email: request.newEmail } : null
}

/** With `userId`, only a change of that user. */
export async function findRequest(ctx: SystemContext, of: ValuesOf<typeof findChangeRequest>) {
  const [request] = await ctx.sql(findChangeRequest, of)
  return request && { status: stateOf(ctx, request), newEmail: request.newEmail }
}

function stateOf(ctx: SystemContext, request: ChangeRequest): ChangeRequest['status'] {
  if (request.status !== 'pending_verification') return request.status
  if (isExpired(ctx, request)) return 'expired'
  return isExhausted(ctx, request) ? 'exhausted' : request.status
}

/** An expired or exhausted change counts as none. */
export function describePendingChange(
  ctx: AnyContext,
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
    delivery: change.delivery,
  }
}
