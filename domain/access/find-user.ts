import { parseAddress } from '@/contract/address'
import type * as contract from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Context, PendingChange, SystemContext } from '../context'
import { describePendingChange } from '../email/get-email-status'
import { lookUpPending, statement } from '../sql'
import { usersWithdrawnAs } from './ended-external-ids'
import { noteLookUp } from './note-look-up'

export interface AccountRow {
  id: string
  external_id: string | null
  email: string
  email_verified_at: Date | null
  name: string
  locale: string | null
  role: string | null
  has_password: boolean
  version: number
  created_at: Date
  withdrawal_id: string | null
  change_id: string | null
  new_email: string
  method: PendingChange['method']
  attempts: number
  requested_at: Date
  sent_at: Date
  change_expires_at: Date
}

const selectAccount = (where: string) =>
  `SELECT u.id, u.external_id, u.email, u.email_verified_at, u.name, u.locale, u.role, u.version, u.created_at,
     u.password_hash IS NOT NULL AS has_password, w.id AS withdrawal_id,
     p.id AS change_id, p.new_email, p.method, p.attempts, p.requested_at, p.sent_at, p.expires_at AS change_expires_at
   FROM users u
   LEFT JOIN withdrawals w ON w.user_id = u.id
   ${lookUpPending('u.id')}
   WHERE ${where}`

const byId = statement<{ userId: string }, AccountRow>('account-by-id', (v) => selectAccount(`u.id = ${v.userId}`))
const byAddress = statement<{ emailKey: string }, AccountRow>('account-by-address', (v) =>
  selectAccount(`u.email_key = ${v.emailKey}`),
)
const byExternalId = statement<{ externalId: string }, AccountRow>('account-by-external-id', (v) =>
  selectAccount(`u.external_id = ${v.externalId} AND u.withdrawn_at IS NULL`),
)

/** Finds a withdrawn account too, until `user_profile` has run. */
export async function findAccount(
  ctx: SystemContext,
  userId: string,
  sql: SystemContext['sql'] = ctx.sql,
): Promise<AccountRow | null> {
  const [account] = await sql(byId, { userId })
  return account ?? null
}

/** The active account with this canonical address. */
export async function findAccountByAddress(ctx: SystemContext, emailKey: string): Promise<AccountRow | null> {
  const [account] = await ctx.sql(byAddress, { emailKey })
  return account ?? null
}

/** The active account with this external id; without one, the last withdrawn one, until `user_profile` has run. */
export async function findAccountByExternalId(ctx: SystemContext, externalId: string): Promise<AccountRow | null> {
  const [active] = await ctx.sql(byExternalId, { externalId })
  if (active) return active
  const [withdrawn] = await usersWithdrawnAs(ctx, externalId)
  return withdrawn === undefined ? null : findAccount(ctx, withdrawn)
}

export const describeAccount = (ctx: SystemContext, account: AccountRow): Data<typeof contract.getUser> => ({
  user_id: account.id,
  external_id: account.external_id,
  email: account.email,
  email_verified: account.email_verified_at !== null,
  name: account.name,
  locale: account.locale,
  created_at: account.created_at.toISOString(),
  has_password: account.has_password,
  pending_change: describePendingChange(ctx, pendingChangeOf(account)),
  version: account.version,
  withdrawal_id: account.withdrawal_id,
})

export const pendingChangeOf = (account: AccountRow): PendingChange | null =>
  account.change_id === null
    ? null
    : {
        id: account.change_id,
        newEmail: account.new_email,
        method: account.method,
        attempts: account.attempts,
        requestedAt: account.requested_at,
        sentAt: account.sent_at,
        expiresAt: account.change_expires_at,
      }

export async function getUser(
  ctx: Context,
  { externalId }: Input<typeof contract.getUser>,
): Promise<Data<typeof contract.getUser>> {
  const account = await findAccountByExternalId(ctx, externalId)
  if (!account) throw new AppError('USER_001')
  return describeAccount(ctx, account)
}

export async function findUser(
  ctx: Context,
  { email }: Input<typeof contract.findUser>,
): Promise<Data<typeof contract.findUser>> {
  const account = await findAccountByAddress(ctx, parseAddress(email)?.key ?? '')
  if (!account) throw new AppError('USER_001')
  await noteLookUp(ctx, { userId: account.id, actor: 'service', actorId: ctx.actor.id, ip: ctx.ip })
  return describeAccount(ctx, account)
}
