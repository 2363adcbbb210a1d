import type { SystemContext } from '../context'
import { HAS_REPLACED_VERIFIED } from '../limits/held-addresses'
import type { NoticeRow } from '../mail/define-notice'
import { boolean, type RowOf, sql, statement, text, time } from '../sql'

const changeOfNotice = statement(
  'change-of-notice',
  { changeId: text },
  {
    id: text,
    name: text,
    has_password: boolean,
    status: text,
    old_email: text,
    /** It is, or was until this change replaced it, an address of the person's own that they can still read. */
    is_old_proven: boolean,
    new_email: text,
    requested_at: time,
    request_ip: text,
    request_user_agent: text.orNull,
    closed_at: time.orNull,
    closed_ip: text.orNull,
    closed_user_agent: text.orNull,
    reverted_at: time.orNull,
  },
  // A service may have stored the address in other letters since.
  (v) => sql`SELECT c.id, u.name, u.password_hash IS NOT NULL AS has_password, c.status, c.old_email,
     (c.status <> 'verified' AND lower(u.email) = lower(c.old_email) AND u.email_verified_at IS NOT NULL) OR EXISTS (
       SELECT FROM email_change_requests r WHERE r.user_id = c.user_id AND lower(r.old_email) = lower(c.old_email) AND ${HAS_REPLACED_VERIFIED}
     ) AS is_old_proven,
     c.new_email, c.requested_at, c.request_ip, c.request_user_agent, c.closed_at, c.closed_ip,
     c.closed_user_agent, c.reverted_at
   FROM email_change_requests c JOIN users u ON u.id = c.user_id WHERE c.id = ${v.changeId}`,
)

/** What every letter about an email change tells. */
export interface ChangeFacts {
  changeId: string
  userName: string
  oldEmail: string
  newEmail: string
  /** The time of what the letter tells. */
  at: Date
}

/** For a later attempt of a letter: the facts of its change, with those that `more` takes from it; null if it is gone or `more` is false. */
export async function readChange<More extends object>(
  ctx: SystemContext,
  { change_request_id: changeId }: NoticeRow,
  more: (change: RowOf<typeof changeOfNotice>) => More | false,
): Promise<(Omit<ChangeFacts, 'at'> & More) | null> {
  const [change] = changeId ? await ctx.sql(changeOfNotice, { changeId }) : []
  const added = change && more(change)
  if (!change || !added) return null
  const { id, name: userName, old_email: oldEmail, new_email: newEmail } = change
  return { changeId: id, userName, oldEmail, newEmail, ...added }
}
