import type { AnyContext, LinkContext, SystemContext } from '../context'
import { STOP_CHANGE_MS } from '../limits/durations'
import { HAS_REPLACED_VERIFIED, heldSince } from '../limits/held-addresses'
import { refuseWrongLink, wrongLink } from '../mail/not-me-links'
import { integer, type Part, type RowOf, sql, statement, text, time } from '../sql'
import { isNotMeTokenOf } from './not-me-token'

/** Refuses every token but that of this change. */
export async function requireNotMeToken(ctx: LinkContext, changeId: string): Promise<void> {
  if (!isNotMeTokenOf(ctx, ctx.linkToken, changeId)) await refuseWrongLink(ctx)
}

export const WINDOW = {
  /** A change that was not verified can be stopped if it was requested after this. */
  requestedAfter: time,
  /** A verified change can be undone if it was verified after this. */
  verifiedAfter: time,
}

export const windowAt = (ctx: AnyContext, now: Date) => ({
  requestedAfter: new Date(now.getTime() - STOP_CHANGE_MS),
  verifiedAfter: heldSince(ctx, now),
})

/**
 * Whether the link to the old address of the change `r` still works: never if that address was not verified. An expired change still has
 * the status of a pending one, and the address that it would replace is the present one.
 */
export const isUndoable = (v: { requestedAfter: Part; verifiedAfter: Part }) =>
  sql`((r.status = 'pending_verification' AND r.requested_at > ${v.requestedAfter}
      AND EXISTS (SELECT FROM users p WHERE p.id = r.user_id AND p.email_verified_at IS NOT NULL))
    OR (${HAS_REPLACED_VERIFIED} AND r.closed_at > ${v.verifiedAfter}))`

const findChange = statement(
  'undoable-change',
  { ...WINDOW, changeId: text },
  {
    user_id: text,
    name: text,
    locale: text.orNull,
    /** The account's current address. */
    email: text,
    status: text.of<'pending_verification' | 'verified'>(),
    old_email: text,
    new_email: text,
    requested_at: time,
    request_ip: text,
    request_user_agent: text.orNull,
    expires_at: time,
    attempts: integer,
    closed_at: time.orNull,
    closed_ip: text.orNull,
    closed_user_agent: text.orNull,
    password_hash: text.orNull,
  },
  (v) => sql`SELECT r.user_id, u.name, u.locale, u.email, r.status, r.old_email, r.new_email, r.requested_at,
     r.request_ip, r.request_user_agent, r.expires_at, r.attempts, r.closed_at, r.closed_ip,
     r.closed_user_agent, u.password_hash
   FROM email_change_requests r JOIN users u ON u.id = r.user_id
   WHERE r.id = ${v.changeId} AND u.withdrawn_at IS NULL AND ${isUndoable(v)}`,
)

export async function requireUndoableChange(ctx: SystemContext, changeId: string): Promise<RowOf<typeof findChange>> {
  const [change] = await ctx.sql(findChange, { changeId, ...windowAt(ctx, ctx.clock.now()) })
  if (!change) throw wrongLink()
  return change
}
