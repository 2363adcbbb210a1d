import { AppError } from '@/contract/errors'
import type { Transaction } from './context'
import { boolean, type Described, integer, sql, statement, text, time } from './sql'

/** An account that is open, and locked until the transaction ends. */
export const LOCKED_ACCOUNT = {
  id: text,
  external_id: text.orNull,
  name: text,
  email: text,
  email_key: text,
  email_verified_at: time.orNull,
  locale: text.orNull,
  version: integer,
  role: text.orNull,
  has_password: boolean,
}
export type LockedAccount = Described<typeof LOCKED_ACCOUNT>

/** The same beside another row, which there is without an account too. */
export const JOINED_ACCOUNT = Object.fromEntries(
  Object.entries(LOCKED_ACCOUNT).map(([name, { whenJoined }]) => [name, whenJoined]),
) as typeof LOCKED_ACCOUNT

export const ACCOUNT_COLUMNS = sql`id, external_id, name, email, email_key, email_verified_at, locale, version, role, password_hash IS NOT NULL AS has_password`

const lockByExternalId = statement(
  'lock-account-of-external-id',
  { externalId: text },
  LOCKED_ACCOUNT,
  (v) =>
    sql`SELECT ${ACCOUNT_COLUMNS} FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL FOR UPDATE`,
)
const lockById = statement(
  'lock-account',
  { userId: text },
  LOCKED_ACCOUNT,
  (v) => sql`SELECT ${ACCOUNT_COLUMNS} FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL FOR UPDATE`,
)

/** Every writer of an account's rows takes this lock first, so the statements after it see what others have committed. */
export async function lockAccountOfId(tx: Transaction, userId: string): Promise<LockedAccount | undefined> {
  const [account] = await tx.sql(lockById, { userId })
  return account
}

/** As `lockAccountOfId`, for what the operator names by its id. */
export async function requireAccountOfId(tx: Transaction, userId: string): Promise<LockedAccount> {
  const account = await lockAccountOfId(tx, userId)
  if (!account) throw unknownUser()
  return account
}

export const NO_ACCOUNT = 'No account has this address or ID.'
export const unknownUser = () => new AppError('USER_001', NO_ACCOUNT)

/** For every write of a service on an account: one with a role is refused. Undefined if there is none. */
export async function lockForService(
  tx: Transaction,
  of: { externalId: string } | { userId: string },
): Promise<LockedAccount | undefined> {
  const [account] = 'userId' in of ? [await lockAccountOfId(tx, of.userId)] : await tx.sql(lockByExternalId, of)
  if (account?.role) throw refusalOfRole()
  return account
}

export const refusalOfRole = () =>
  new AppError('AUTH_002', 'This account has a role. The operator command alone changes it.')
