import { closePendingChange, endSessions, endTokens, RAISE_VERSION } from '../sql'

interface Ending {
  /** The account's id, a value. */
  user: string
  at: string
  /** What ends beside the outside tokens. With the sessions ends the pending change, because an attacker may have asked for it. */
  ends: readonly ('sessions' | 'tokens')[]
  /** The session that does not end. */
  except?: string
  /** True if no access token and no outside token ends. */
  keepTokens?: string
  /** A further condition on the row of `users`. */
  where?: string
  /** A further assignment in that row. */
  set?: string
}

/**
 * Parts of a statement that end what opens an account; `account` is its row of `users`. Outside tokens have no row of their own, so
 * those that were issued until now are refused. Run it after locking the account, so that it sees what concurrent calls have started.
 */
export const endAccess = ({ user, at, ends, except, keepTokens, where, set }: Ending) => {
  const of = { from: 'account', user, at }
  const sessions = `, ended_sessions AS (
     ${endSessions({ ...of, ...(except && { except }) })} RETURNING s.expires_at > ${at} AS was_open
   ), cancelled AS (
     ${closePendingChange('cancelled', of)}
   )`
  const tokens = `, ended_tokens AS (
     ${endTokens(of)} ${keepTokens ? `AND NOT ${keepTokens}::boolean` : ''} RETURNING t.expires_at > ${at} AS was_open
   )`
  return `account AS (
     UPDATE users SET ${RAISE_VERSION}, ${endOutsideTokens(at, keepTokens)}${set ? `, ${set}` : ''}
     WHERE id = ${user} AND withdrawn_at IS NULL ${where ? `AND ${where}` : ''}
     RETURNING id, external_id, version
   )${ends.includes('sessions') ? sessions : ''}${ends.includes('tokens') ? tokens : ''}`
}

// The clocks of instances differ a little, and an earlier end must not open the account again.
const endOutsideTokens = (at: string, unless = 'false') =>
  `credentials_since = CASE WHEN ${unless}::boolean THEN credentials_since ELSE greatest(credentials_since, ${at}::timestamptz) END`

/** How many of a part's rows could still be used. */
export const countOpen = (part: 'ended_sessions' | 'ended_tokens') =>
  `(SELECT count(*)::int FROM ${part} WHERE was_open)`
