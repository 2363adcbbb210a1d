import type { SystemContext } from '../context'
import { boolean, sql, statement, text } from '../sql'

// The hash of a session outlives the account, until the purge. Only the link of a mail cancels a change and ends sessions at once: whoever
// presses it chooses a new password.
const endOf = statement(
  'end-of-session',
  { id: text },
  { is_withdrawn: boolean, has_new_address: boolean, has_old_address: boolean, has_new_password: boolean },
  (v) => sql`SELECT EXISTS (
       SELECT FROM ended_credentials WHERE credential_hash = sha256(convert_to(${v.id}::text, 'UTF8'))
     ) AS is_withdrawn, EXISTS (
       SELECT FROM sessions s JOIN email_change_requests r ON r.user_id = s.user_id
       WHERE s.id = ${v.id} AND r.status = 'verified' AND r.closed_at = s.revoked_at
     ) AS has_new_address, EXISTS (
       SELECT FROM sessions s JOIN email_change_requests r ON r.user_id = s.user_id
       WHERE s.id = ${v.id} AND r.status = 'reverted' AND r.reverted_at = s.revoked_at
     ) AS has_old_address, EXISTS (
       SELECT FROM sessions s JOIN audit_events a ON a.user_id = s.user_id AND a.at = s.revoked_at
       WHERE s.id = ${v.id} AND a.action IN ('password.changed', 'password.reset', 'email_change.cancelled')
     ) AS has_new_password`,
)

export type SessionEnd = 'deleted' | 'address_changed' | 'change_undone' | 'password_changed' | 'other'

/** Why a session has ended that its browser still has. */
export async function whySessionEnded(ctx: SystemContext, sessionId: string): Promise<SessionEnd> {
  const [end] = await ctx.sql(endOf, { id: sessionId })
  if (end?.is_withdrawn) return 'deleted'
  if (end?.has_old_address) return 'change_undone'
  if (end?.has_new_password) return 'password_changed'
  return end?.has_new_address ? 'address_changed' : 'other'
}
