import { parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import type { PendingChange, SystemContext } from '../context'
import { describePendingChange } from '../email/get-email-status'
import { statement } from '../sql'

interface AccountRow {
  id: string
  name: string
  email: string
  email_verified_at: Date | null
  role: string | null
  created_at: Date
  withdrawal_id: string | null
}

const selectAccount = (condition: string) =>
  `SELECT u.id, u.name, u.email, u.email_verified_at, u.role, u.created_at, w.id AS withdrawal_id
   FROM users u LEFT JOIN withdrawals w ON w.user_id = u.id WHERE ${condition}`
const findById = statement<{ userId: string }, AccountRow>('show-user-by-id', (v) =>
  selectAccount(`u.id = ${v.userId}`),
)
const findByAddress = statement<{ emailKey: string }, AccountRow>('show-user-by-address', (v) =>
  selectAccount(`u.email_key = ${v.emailKey}`),
)

/** For the operator. A withdrawn account is found by its id until `user_profile` has run, and no longer by its address. */
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
  const [user] = await ctx.sql(findById, { userId })
  if (!user) throw new AppError('REQUEST_001', 'There is no user with this id.')
  return user
}

async function findUserByAddress(ctx: SystemContext, email: string): Promise<AccountRow> {
  const address = parseAddress(email)
  if (!address) throw new AppError('EMAIL_001', 'The address must be one plain address, such as ada@example.com.')
  const [user] = await ctx.sql(findByAddress, { emailKey: address.key })
  if (!user) throw new AppError('REQUEST_001', 'There is no active user with this address.')
  return user
}
