import { AppError } from '@/contract/errors'
import { type Sql, statement } from '../sql'

/** An account that is open, and locked until the transaction ends. */
export interface LockedAccount {
  id: string
  external_id: string | null
  name: string
  email: string
  email_key: string
  email_verified_at: Date | null
  locale: string | null
  version: number
  role: string | null
}

const ACCOUNT = 'id, external_id, name, email, email_key, email_verified_at, locale, version, role'

const lockByExternalId = statement<{ externalId: string }, LockedAccount>(
  'lock-account-of-external-id',
  (v) => `SELECT ${ACCOUNT} FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL FOR UPDATE`,
)
const lockById = statement<{ userId: string }, LockedAccount>(
  'lock-account-to-name',
  (v) => `SELECT ${ACCOUNT} FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL FOR UPDATE`,
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
