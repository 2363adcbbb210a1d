import { parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import { type PendingChange, type SystemContext, statement } from '../context'
import { describePendingChange } from '../email/get-email-status'

interface AccountRow {
  id: string
  name: string
  email: string
  email_verified_at: Date | null
  role: string | null
  created_at: Date
  withdrawal_id: string | null
}

const COLUMNS = `u.id, u.name, u.email, u.email_verified_at, u.role, u.created_at, w.id AS withdrawal_id`
const findById = statement(
  'show-user-by-id',
  `SELECT ${COLUMNS} FROM users u LEFT JOIN withdrawals w ON w.user_id = u.id WHERE u.id = $1`,
)
const findByAddress = statement(
  'show-user-by-address',
  `SELECT ${COLUMNS} FROM users u LEFT JOIN withdrawals w ON w.user_id = u.id WHERE u.email_key = $1`,
)

/** For the operator. A withdrawn account is found by its id until `user_profile` has run, and by its address no more. */
export async function showUser(ctx: SystemContext, by: { userId: string } | { email: string }): Promise<object> {
  const user = 'userId' in by ? await findUser(ctx, by.userId) : await findUserByAddress(ctx, by.email)
  const pending = await ctx.db.emailChangeRequest.findFirst({
    where: { userId: user.id, status: 'pending_verification' },
  })
  return {
    user_id: user.id,
    email: user.email,
    email_verified: user.email_verified_at !== null,
    verified_at: user.email_verified_at?.toISOString() ?? null,
    name: user.name,
    role: user.role,
    created_at: user.created_at.toISOString(),
    pending_change: describePendingChange(ctx, pending as PendingChange | null),
    withdrawal_id: user.withdrawal_id,
  }
}

async function findUser(ctx: SystemContext, userId: string): Promise<AccountRow> {
  const [user] = await ctx.sql<AccountRow>(findById, [userId])
  if (!user) throw new AppError('REQUEST_001', 'There is no user with this id.')
  return user
}

async function findUserByAddress(ctx: SystemContext, email: string): Promise<AccountRow> {
  const address = parseAddress(email)
  if (!address) throw new AppError('EMAIL_001', 'The address must be one plain address, such as ada@example.com.')
  const [user] = await ctx.sql<AccountRow>(findByAddress, [address.key])
  if (!user) throw new AppError('REQUEST_001', 'There is no active user with this address.')
  return user
}
