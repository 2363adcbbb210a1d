import { AppError } from '@/contract/errors'
import { type Described, integer, type Shape, type Sql, sql, statement, text, time } from './sql'

/** An account that is open, and locked until the transaction ends. */
const LOCKED_ACCOUNT = {
  id: text,
  external_id: text.orNull,
  name: text,
  email: text,
  email_key: text,
  email_verified_at: time.orNull,
  locale: text.orNull,
  version: integer,
  role: text.orNull,
} satisfies Shape
export type LockedAccount = Described<typeof LOCKED_ACCOUNT>

const ACCOUNT_COLUMNS = sql`id, external_id, name, email, email_key, email_verified_at, locale, version, role`

const lockByExternalId = statement(
  'lock-account-of-external-id',
  { externalId: text },
  LOCKED_ACCOUNT,
  (v) =>
    sql`SELECT ${ACCOUNT_COLUMNS} FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL FOR UPDATE`,
)
const lockById = statement(
  'lock-account-to-name',
  { userId: text },
  LOCKED_ACCOUNT,
  (v) => sql`SELECT ${ACCOUNT_COLUMNS} FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL FOR UPDATE`,
)

export async function lockAccountOfId(sql: Sql, userId: string): Promise<LockedAccount | undefined> {
  const [account] = await sql(lockById, { userId })
  return account
}

/** For every write of a service on an account: one with a role is refused. Undefined if there is none. */
export async function lockForService(
  sql: Sql,
  of: { externalId: string } | { userId: string },
): Promise<LockedAccount | undefined> {
  const [account] = 'userId' in of ? [await lockAccountOfId(sql, of.userId)] : await sql(lockByExternalId, of)
  if (account?.role) throw refusalOfRole()
  return account
}

export const refusalOfRole = () =>
  new AppError('AUTH_002', 'This account has a role. The operator command alone changes it.')

/**
 * Lock the account in a statement of its own before one that ends sessions or closes changes. That next statement then sees a
 * change that was opened while this one waited for the row.
 */
export const lockActiveUser = statement(
  'lock-active-user',
  { userId: text },
  { id: text },
  (v) => sql`SELECT id FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL FOR UPDATE`,
)
