import type { SystemContext } from '../context'
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
    old_email_key: text.orNull,
    new_email: text,
    requested_at: time,
    request_ip: text,
    closed_at: time.orNull,
    closed_ip: text.orNull,
    reverted_at: time.orNull,
  },
  (v) => sql`SELECT r.id, u.name, u.password_hash IS NOT NULL AS has_password, r.status, r.old_email, r.old_email_key,
     r.new_email, r.requested_at, r.request_ip, r.closed_at, r.closed_ip, r.reverted_at
   FROM email_change_requests r JOIN users u ON u.id = r.user_id WHERE r.id = ${v.changeId}`,
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

/** For a later attempt of a letter: the facts of its change, with those that `more` takes from it; null if it is gone. */
export async function readChange<More extends object>(
  ctx: SystemContext,
  { change_request_id: changeId }: NoticeRow,
  more: (change: RowOf<typeof changeOfNotice>) => More,
): Promise<(Omit<ChangeFacts, 'at'> & More) | null> {
  const [change] = changeId ? await ctx.sql(changeOfNotice, { changeId }) : []
  if (!change) return null
  const { id, name: userName, old_email: oldEmail, new_email: newEmail } = change
  return { changeId: id, userName, oldEmail, newEmail, ...more(change) }
}
