import { parseAddress } from '@/contract/address'
import { isStorable } from '@/contract/define'
import { currentPassword } from '@/contract/email'
import { AppError, parseIssueMessage } from '@/contract/errors'
import { isUniqueViolation, type SystemContext, statement } from './context'

const insertUser = statement(
  'create-user',
  `WITH account AS (
     INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
     SELECT $1, $2, $3, $4, $5, $6, $7 WHERE address_is_free($4, $1)
     RETURNING id
   )
   INSERT INTO audit_events (id, user_id, action, actor, at) SELECT $8, id, 'user.created', 'operator', $7 FROM account
   RETURNING id`,
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
  const values = [
    id,
    name,
    address.typed,
    address.key,
    input.emailVerified ? now : null,
    passwordHash,
    now,
    ctx.secrets.randomId('aud_'),
  ]
  const rows = await ctx.sql(insertUser, values).catch((error) => {
    // By somebody who wrote the address without asking for it first.
    if (isUniqueViolation(error, 'users_email_key_key')) return []
    throw error
  })
  if (rows.length === 0) throw new AppError('EMAIL_002')
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

// Open changes die with the old password: whoever started one may not be who holds the account now.
const updatePassword = statement(
  'set-password',
  `WITH account AS (
     UPDATE users SET password_hash = $2 WHERE id = $1 AND withdrawn_at IS NULL RETURNING id
   ), ended AS (
     UPDATE sessions SET revoked_at = $3 FROM account WHERE user_id = $1 AND revoked_at IS NULL
   ), cancelled AS (
     UPDATE email_change_requests SET status = 'cancelled', closed_at = $3
     FROM account WHERE user_id = $1 AND status = 'pending_verification'
   )
   INSERT INTO audit_events (id, user_id, action, actor, at)
   SELECT $4, id, 'password.changed', 'operator', $3 FROM account
   RETURNING id`,
)

export async function setPassword(ctx: SystemContext, input: { userId: string; password: string }): Promise<void> {
  const passwordHash = await ctx.passwords.hash(checkPassword(input.password))
  const rows = await ctx.transaction(async (sql) => {
    await sql(lockActiveUser, [input.userId])
    return sql(updatePassword, [input.userId, passwordHash, ctx.clock.now(), ctx.secrets.randomId('aud_')])
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
