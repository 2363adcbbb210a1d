import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { type AccountEvent, queueEvent } from '../queue/events'
import { closePendingChange, endSessions } from '../sql'

interface Replacement {
  /** Each member is a value of the statement. */
  userId: string
  passwordHash: string
  now: string
  /** The id of the event. */
  eventId: string
  /** What is told to applications in place of `account.password_changed`. */
  event?: { type: AccountEvent; data: Record<string, string>; addresses: string }
  /** What has to be true of the row of `users` as well. */
  where?: string
  /** What is set in the same row, such as `credentials_since = …`. */
  set?: string
  /** The session that stays. */
  except?: string
  /** True where the access tokens stay. */
  keepTokens?: string
}

/**
 * Named parts of a statement that replace a password, with all that a new password means: `account` is the row of `users`, empty where
 * nothing was replaced. Whoever opened a session or a change, or made an access token, may not be who holds the account now. Run it
 * in a transaction after the account's lock: it then sees what was opened while the lock was waited for. Call `beginDueDeliveries` after the
 * commit.
 */
export const replacePassword = ({
  userId,
  passwordHash,
  now,
  eventId,
  event,
  where,
  set,
  except,
  keepTokens,
}: Replacement) =>
  `account AS (
     UPDATE users
     SET password_hash = ${passwordHash}, credential_version = credential_version + 1, version = version + 1${set ? `, ${set}` : ''}
     WHERE id = ${userId} AND withdrawn_at IS NULL ${where ? `AND ${where}` : ''}
     RETURNING id, external_id, version
   ), ${queueEvent(event?.type ?? 'account.password_changed', { ...event, from: 'account', user: userId, id: eventId, at: now })}, ended_sessions AS (
     ${endSessions({ from: 'account', user: userId, at: now, ...(except && { except }) })}
   ), ended_tokens AS (
     UPDATE access_tokens SET revoked_at = ${now}
     FROM account WHERE user_id = ${userId} AND revoked_at IS NULL ${keepTokens ? `AND NOT ${keepTokens}::boolean` : ''}
   ), cancelled AS (
     ${closePendingChange('cancelled', { from: 'account', user: userId, at: now })}
   )`

/** The hash of a new password. PASSWORD_001 where it is the password that the account has now. */
export async function hashNewPassword(
  ctx: SystemContext,
  { current, password }: { current: string | null; password: string },
): Promise<string> {
  if (current !== null && (await ctx.passwords.verify(current, password))) {
    throw new AppError('PASSWORD_001', 'new_password is the current password. Choose another one.')
  }
  return ctx.passwords.hash(password)
}
