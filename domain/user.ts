import { parseAddress } from '@/contract/address'
import { isStorable } from '@/contract/define'
import { currentPassword } from '@/contract/email'
import { AppError, parseIssueMessage } from '@/contract/errors'
import { isUniqueViolation, type SystemContext, statement } from './context'

const MIN_PASSWORD_LENGTH = 8

const insertUser = statement(
  'create-user',
  `WITH account AS (
     INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     RETURNING id
   )
   INSERT INTO audit_events (id, user_id, action, actor, at) SELECT $8, id, 'user.created', 'operator', $7 FROM account`,
)

/** For the operator and the demo seed: sign-up belongs to the product that adopts the service. */
export async function createUser(
  ctx: SystemContext,
  input: { email: string; password: string; name: string; emailVerified: boolean },
): Promise<string> {
  const address = parseAddress(input.email)
  if (!address) throw new AppError('EMAIL_001', 'The address must be one plain address, such as ada@example.com.')
  const name = checkName(input.name)
  const passwordHash = await ctx.passwords.hash(checkPassword(input.password))
  const now = ctx.clock.now()
  const id = ctx.secrets.randomId('usr_')
  try {
    await ctx.sql(insertUser, [
      id,
      name,
      address.typed,
      address.key,
      input.emailVerified ? now : null,
      passwordHash,
      now,
      ctx.secrets.randomId('aud_'),
    ])
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key_key')) throw new AppError('EMAIL_002')
    throw error
  }
  return id
}

/**
 * Taken in a statement of its own before what ends sessions or open changes: the next statement then sees a change
 * that was opened while this one waited for the row.
 */
export const lockActiveUser = statement(
  'lock-active-user',
  'SELECT id FROM users WHERE id = $1 AND withdrawn_at IS NULL FOR UPDATE',
)

/**
 * The part `account` of a statement that writes what a withdrawal has to see; its value is $2. A withdrawal that
 * began before this committed finds another version than the one it read, and looks again.
 */
export const RAISE_VERSION = `UPDATE users SET version = version + 1 WHERE id = $2 AND withdrawn_at IS NULL RETURNING id, name`

// Open changes and access tokens end with the old password: whoever made them may not be who holds the account now.
const updatePassword = statement(
  'set-password',
  `WITH account AS (
     UPDATE users SET password_hash = $2 WHERE id = $1 AND withdrawn_at IS NULL RETURNING id
   ), ended AS (
     UPDATE sessions SET revoked_at = $3 FROM account WHERE user_id = $1 AND revoked_at IS NULL
   ), ended_tokens AS (
     UPDATE access_tokens SET revoked_at = $3 FROM account WHERE user_id = $1 AND revoked_at IS NULL AND NOT $5::boolean
   ), cancelled AS (
     UPDATE email_change_requests SET status = 'cancelled', closed_at = $3
     FROM account WHERE user_id = $1 AND status = 'pending_verification'
   )
   INSERT INTO audit_events (id, user_id, action, actor, at)
   SELECT $4, id, 'password.changed', 'operator', $3 FROM account
   RETURNING id`,
)

/** Ends every session, and every access token unless `keepTokens`; cancels the pending change. */
export async function setPassword(
  ctx: SystemContext,
  input: { userId: string; password: string; keepTokens?: boolean },
): Promise<void> {
  const { userId, keepTokens = false } = input
  const password = checkPassword(input.password)
  // Code points, so that an emoji counts once.
  if ([...password].length < MIN_PASSWORD_LENGTH) {
    throw new AppError('REQUEST_001', `The password must have at least ${MIN_PASSWORD_LENGTH} characters.`)
  }
  const passwordHash = await ctx.passwords.hash(password)
  const rows = await ctx.transaction(async (sql) => {
    await sql(lockActiveUser, [userId])
    return sql(updatePassword, [userId, passwordHash, ctx.clock.now(), ctx.secrets.randomId('aud_'), keepTokens])
  })
  if (rows.length === 0) throw new AppError('REQUEST_001', 'There is no active user with this id.')
}

function checkPassword(password: string): string {
  const parsed = currentPassword.safeParse(password)
  if (parsed.success) return parsed.data
  const { details } = parseIssueMessage(parsed.error.issues[0]?.message ?? '')
  throw new AppError('REQUEST_001', details.replace('current_password', 'The password'))
}

function checkName(name: string): string {
  const acceptable = name.trim() !== '' && name.length <= 16_384 && isStorable(name) && !/\p{Cc}/u.test(name)
  if (!acceptable) throw new AppError('REQUEST_001', 'The name must be text of one line, 16384 characters at most.')
  return name
}
