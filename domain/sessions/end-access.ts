import { closePendingChange, endSessions, endTokens, identifier, NOTHING, type Part, RAISE_VERSION, sql } from '../sql'

interface Ending {
  /** The account's id, a value. */
  user: Part
  at: Part
  /** What ends beside the outside tokens. With the sessions ends the pending change, because an attacker may have asked for it. */
  ends: readonly ('sessions' | 'tokens')[]
  /** The session that does not end. */
  except?: Part
  /** True if no access token and no outside token ends. */
  keepTokens?: Part
  /** A further condition on the row of `users`. */
  where?: Part
  /** A further assignment in that row. */
  set?: Part
}

/**
 * Parts of a statement that end what opens an account; `account` is its row of `users`. Outside tokens have no row of their own, so
 * those that were issued until now are refused. Run it after locking the account, so that it sees what concurrent calls have started.
 */
export const endAccess = ({ user, at, ends, except, keepTokens, where, set }: Ending) => {
  const of = { from: sql`account`, user, at }
  const sessions = sql`, ended_sessions AS (
     ${endSessions({ ...of, ...(except && { except }) })} RETURNING s.expires_at > ${at} AS was_open
   ), cancelled AS (
     ${closePendingChange('cancelled', of)}
   )`
  const tokens = sql`, ended_tokens AS (
     ${endTokens(of)} ${keepTokens ? sql`AND NOT ${keepTokens}::boolean` : NOTHING} RETURNING t.expires_at > ${at} AS was_open
   )`
  return sql`account AS (
     UPDATE users SET ${RAISE_VERSION}, ${endOutsideTokens(at, keepTokens)}${set ? sql`, ${set}` : NOTHING}
     WHERE id = ${user} AND withdrawn_at IS NULL ${where ? sql`AND ${where}` : NOTHING}
     RETURNING id, external_id, version
   )${ends.includes('sessions') ? sessions : NOTHING}${ends.includes('tokens') ? tokens : NOTHING}`
}

// The clocks of instances differ a little. An earlier end must not open the account again, and each end must change the time, because
// page tokens name it.
const endOutsideTokens = (at: Part, unless = sql`false`) =>
  sql`credentials_since = CASE WHEN ${unless}::boolean THEN credentials_since ELSE greatest(credentials_since + interval '1 millisecond', ${at}::timestamptz) END`

/** How many of a part's rows could still be used. */
export const countOpen = (part: 'ended_sessions' | 'ended_tokens') =>
  sql`(SELECT count(*)::int FROM ${identifier(part)} WHERE was_open)`
