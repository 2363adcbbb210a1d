import type { Transaction } from '../context'
import {
  closePendingChange,
  endSessions,
  endTokens,
  integer,
  literal,
  type Part,
  RAISE_VERSION,
  sql,
  statement,
  text,
  time,
} from '../sql'

/** With the sessions ends the pending change, because an attacker may have asked for it. */
type Access = 'sessions' | 'access_tokens' | 'outside_tokens'

const ends = (v: { ends: Part }, access: Access) => sql`${literal(access)} = ANY(${v.ends}::text[])`
const wasOpen = (of: { at: Part }) => sql`expires_at > ${of.at} AS was_open`

// The clocks of instances differ a little. An earlier end must not open the account again, and each end must change the time, because
// page tokens name it.
const endAccessOf = statement(
  'end-access',
  { userId: text, at: time, ends: text.of<Access>().list, except: text },
  { sessions_ended: integer, tokens_ended: integer },
  (v) => sql`WITH account AS (
     UPDATE users SET ${RAISE_VERSION}, credentials_since = CASE WHEN ${ends(v, 'outside_tokens')}
       THEN greatest(credentials_since + interval '1 millisecond', ${v.at}::timestamptz) ELSE credentials_since END
     WHERE id = ${v.userId}
   ), ended_sessions AS (
     ${endSessions({ user: v.userId, at: v.at, except: v.except })} AND ${ends(v, 'sessions')} RETURNING ${wasOpen(v)}
   ), cancelled AS (
     ${closePendingChange('cancelled', { user: v.userId, at: v.at })} AND ${ends(v, 'sessions')}
   ), forgotten AS (
     UPDATE sign_ins SET device = NULL WHERE user_id = ${v.userId} AND device IS NOT NULL AND ${ends(v, 'outside_tokens')}
   ), ended_tokens AS (
     ${endTokens({ user: v.userId, at: v.at })} AND ${ends(v, 'access_tokens')} RETURNING ${wasOpen(v)}
   )
   SELECT (SELECT count(*)::int FROM ended_sessions WHERE was_open) AS sessions_ended,
     (SELECT count(*)::int FROM ended_tokens WHERE was_open) AS tokens_ended`,
)

interface Ending {
  userId: string
  at: Date
  ends: Access[]
  /** The session that does not end. */
  except?: string
}

/** How many sessions and access tokens ended that could still be used. */
export interface Ended {
  sessions: number
  tokens: number
}

/**
 * Ends what opens an account; with all of it, its devices are forgotten. Outside tokens have no row of their own, so those that were issued until now are refused. `tx` must hold
 * the account's lock, so that this sees what concurrent calls have started.
 */
export async function endAccess(tx: Transaction, { except = '', ...ending }: Ending): Promise<Ended> {
  const [ended] = await tx.sql(endAccessOf, { ...ending, except })
  return { sessions: ended?.sessions_ended ?? 0, tokens: ended?.tokens_ended ?? 0 }
}
