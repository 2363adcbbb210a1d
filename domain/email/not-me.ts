import { AppError } from '@/contract/errors'
import { networkOf } from '../access/sign-in'
import type { LinkContext, SystemContext } from '../context'
import { pseudonymousBucket, takePlaces } from '../limits/buckets'
import { STOP_CHANGE_MS } from '../limits/durations'
import { statement } from '../sql'
import { heldSince } from './held-addresses'
import { isNotMeTokenOf } from './not-me-token'

/** One answer for every link that does not work: malformed, of another change, used or expired. */
export const wrongLink = () => new AppError('EMAIL_006', 'This link does not work, or no longer works.')

/** Refuses every token but that of this change. Wrong ones count for their client, so that they take no place of the right one. */
export async function requireNotMeToken(ctx: LinkContext, changeId: string): Promise<void> {
  if (isNotMeTokenOf(ctx, ctx.linkToken, changeId)) return
  await takePlaces(ctx, { take: [pseudonymousBucket(ctx, 'notMeAddress', networkOf(ctx.ip))], code: 'EMAIL_008' })
  throw wrongLink()
}

export interface Window {
  /** A change that was not verified can be stopped if it was requested after this. */
  requestedAfter: Date
  /** A verified change can be undone if it was verified after this. */
  verifiedAfter: Date
}

export const windowAt = (ctx: SystemContext, now: Date): Window => ({
  requestedAfter: new Date(now.getTime() - STOP_CHANGE_MS),
  verifiedAfter: heldSince(ctx, now),
})

/**
 * Whether the link to the old address of the change `r` still works. An expired change still has the status of a pending one; a
 * verified one without the key of its old address came from a mailbox that is lost, or another change has said so since.
 */
export const isUndoable = (v: { requestedAfter: string; verifiedAfter: string }) =>
  `((r.status = 'pending_verification' AND r.requested_at > ${v.requestedAfter})
    OR (r.status = 'verified' AND r.closed_at > ${v.verifiedAfter} AND r.old_email_key IS NOT NULL))`

export interface UndoableChange {
  user_id: string
  name: string
  locale: string | null
  /** The account's current address. */
  email: string
  status: 'pending_verification' | 'verified'
  old_email: string
  new_email: string
  requested_at: Date
  request_ip: string
  expires_at: Date
  closed_at: Date | null
  closed_ip: string | null
  password_hash: string | null
}

const findChange = statement<Window & { changeId: string }, UndoableChange>(
  'undoable-change',
  (
    v,
  ) => `SELECT r.user_id, u.name, u.locale, u.email, r.status, r.old_email, r.new_email, r.requested_at, r.request_ip, r.expires_at,
     r.closed_at, r.closed_ip, u.password_hash
   FROM email_change_requests r JOIN users u ON u.id = r.user_id
   WHERE r.id = ${v.changeId} AND u.withdrawn_at IS NULL AND ${isUndoable(v)}`,
)

export async function requireUndoableChange(ctx: SystemContext, changeId: string): Promise<UndoableChange> {
  const [change] = await ctx.sql(findChange, { changeId, ...windowAt(ctx, ctx.clock.now()) })
  if (!change) throw wrongLink()
  return change
}
