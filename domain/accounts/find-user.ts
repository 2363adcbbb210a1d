import { parseAddress } from '@/contract/address'
import type * as contract from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { type AuditActor, addAudit } from '../audit'
import type { AnyContext, Context, SystemContext, Transaction } from '../context'
import { describePendingChange } from '../email/get-email-status'
import { PENDING_COLUMNS, pendingChangeOf, SELECT_PENDING } from '../pending-change'
import { boolean, type Described, integer, lookUpPending, type Part, sql, statement, text, time } from '../sql'
import { usersWithdrawnAs } from './ended-external-ids'

const ACCOUNT_ROW = {
  id: text,
  external_id: text.orNull,
  email: text,
  email_verified_at: time.orNull,
  is_undeliverable: boolean,
  name: text,
  locale: text.orNull,
  role: text.orNull,
  has_password: boolean,
  version: integer,
  created_at: time,
  withdrawal_id: text.orNull,
  ...PENDING_COLUMNS,
}
export type AccountRow = Described<typeof ACCOUNT_ROW>

const selectAccount = (where: Part) =>
  sql`SELECT u.id, u.external_id, u.email, u.email_verified_at, u.name, u.locale, u.role, u.version, u.created_at,
     u.email_undeliverable_at IS NOT NULL AS is_undeliverable,
     u.password_hash IS NOT NULL AS has_password, w.id AS withdrawal_id,
     ${SELECT_PENDING}
   FROM users u
   LEFT JOIN withdrawals w ON w.user_id = u.id
   ${lookUpPending(sql`u.id`)}
   WHERE ${where}`

const byId = statement('account-by-id', { userId: text }, ACCOUNT_ROW, (v) => selectAccount(sql`u.id = ${v.userId}`))
const byAddress = statement('account-by-address', { emailKey: text }, ACCOUNT_ROW, (v) =>
  selectAccount(sql`u.email_key = ${v.emailKey}`),
)
const byExternalId = statement('account-by-external-id', { externalId: text }, ACCOUNT_ROW, (v) =>
  selectAccount(sql`u.external_id = ${v.externalId} AND u.withdrawn_at IS NULL`),
)

/** Finds a withdrawn account too, until `user_profile` has run. */
export async function findAccount(ctx: AnyContext, userId: string): Promise<AccountRow | null> {
  const [account] = await ctx.sql(byId, { userId })
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

/**
 * Runs before the answer, so that nobody is looked up in secret. What was asked for may be an address and is not kept. `actorId` is
 * the operator's own account; null for the operator command.
 */
export const noteLookUp = (ctx: SystemContext, of: AuditActor & { userId: string }): Promise<void> =>
  addAudit(ctx, 'account.looked_up', { ...of, at: ctx.clock.now() })

export const describeAccount = (ctx: AnyContext, account: AccountRow): Data<typeof contract.getUser> => ({
  user_id: account.id,
  external_id: account.external_id,
  email: account.email,
  email_verified: account.email_verified_at !== null,
  email_undeliverable: account.is_undeliverable,
  name: account.name,
  locale: account.locale,
  created_at: account.created_at.toISOString(),
  has_password: account.has_password,
  pending_change: describePendingChange(ctx, pendingChangeOf(account)),
  version: account.version,
  withdrawal_id: account.withdrawal_id,
})

/** An account as the transaction that wrote it leaves it. */
export async function describeWritten(tx: Transaction, userId: string) {
  const written = await findAccount(tx, userId)
  if (!written) throw new Error('the account that was written is there')
  return describeAccount(tx, written)
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
  await noteLookUp(ctx, { userId: account.id, actor: 'service', ip: ctx.ip })
  return describeAccount(ctx, account)
}
