import type { SystemContext } from '../context'
import { boolean, sql, statement, text } from '../sql'

const endOf = statement(
  'end-of-session',
  { id: text },
  { is_withdrawn: boolean, has_new_address: boolean },
  (v) => sql`SELECT u.withdrawn_at IS NOT NULL AS is_withdrawn, EXISTS (
       SELECT FROM email_change_requests r
       WHERE r.user_id = s.user_id AND r.status = 'verified' AND r.closed_at = s.revoked_at
     ) AS has_new_address
   FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = ${v.id} AND s.revoked_at IS NOT NULL`,
)

export type SessionEnd = 'deleted' | 'address_changed' | 'other'

/** Why a session has ended that its browser still has. The erasure removes what knows of a deletion. */
export async function whySessionEnded(ctx: SystemContext, sessionId: string): Promise<SessionEnd> {
  const [end] = await ctx.sql(endOf, { id: sessionId })
  if (end?.is_withdrawn) return 'deleted'
  return end?.has_new_address ? 'address_changed' : 'other'
}
