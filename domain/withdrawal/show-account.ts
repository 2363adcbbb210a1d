import { parseAddress } from '@/contract/address'
import type { Amount } from '@/contract/amount'
import { AppError } from '@/contract/errors'
import type { ShownAccount, ShownBlocker } from '@/contract/operator'
import {
  type AccountRow,
  describeAccount,
  findAccount,
  findAccountByAddress,
  findAccountByExternalId,
  noteLookUp,
} from '../accounts/find-user'
import { NOT_BY_ADDRESS, withdrawalOf } from '../accounts/look-up'
import { notAnAddress } from '../accounts/user'
import { connectionsOf } from '../applications/connect'
import { listTransactions } from '../applications/transactions'
import { ACT, describeAct, SELECT_ACT } from '../audit'
import type { AuditAction } from '../audit-actions'
import type { SystemContext } from '../context'
import { withIsoTimes } from '../iso-times'
import { NO_ACCOUNT } from '../lock-account'
import { integer, json, type Part, type Placeholders, sql, statement, text, time } from '../sql'
import { findBlockers } from './blockers'
import { amountOf } from './steps/deletion-step'

/** A higher count is shown as more than this. */
export const MAX_ACCESS_COUNTED = 1_000

const OPEN_ACCESS = { userId: text, now: time, maxRows: integer }
const countOpen = (table: Part, v: Placeholders<typeof OPEN_ACCESS>) =>
  sql`(SELECT count(*)::int FROM (
     SELECT FROM ${table} WHERE user_id = ${v.userId} AND revoked_at IS NULL AND expires_at > ${v.now} LIMIT ${v.maxRows}
   ) open)`
const countAccess = statement(
  'count-open-access',
  OPEN_ACCESS,
  { sessions: integer, tokens: integer },
  (v) => sql`SELECT ${countOpen(sql`sessions`, v)} AS sessions, ${countOpen(sql`access_tokens`, v)} AS tokens`,
)
const lostMailbox = statement(
  'lost-mailbox-of-account',
  { userId: text },
  { at: time.orNull },
  (v) => sql`SELECT max(at) AS at FROM audit_events
   WHERE user_id = ${v.userId} AND action = 'email.old_mailbox_lost'`,
)
const MAX_BLOCKERS = 100
const readBlockers = statement(
  'pushed-blockers-of-account',
  { userId: text, now: time, maxRows: integer },
  {
    source: text,
    key: text,
    code: text,
    title: text,
    amount: json.of<Amount>().orNull,
    url: text.orNull,
    created_at: time,
    expires_at: time.orNull,
  },
  (v) => sql`SELECT source, key, code, title, ${amountOf('amount_minor')} AS amount, url, created_at, expires_at
   FROM withdrawal_blockers
   WHERE user_id = ${v.userId} AND (expires_at IS NULL OR expires_at > ${v.now})
   ORDER BY created_at, source, key LIMIT ${v.maxRows}`,
)
const MAX_ACTS = 20
const readActs = statement(
  'newest-acts-on-account',
  { userId: text, lookedUp: text, maxRows: integer },
  ACT,
  (v) => sql`SELECT ${SELECT_ACT} FROM audit_events
   WHERE user_id = ${v.userId} AND action <> ${v.lookedUp} ORDER BY at DESC, id DESC LIMIT ${v.maxRows}`,
)
/** Look-ups are left out: the page that shows them writes one each time. */
async function newestActs(ctx: SystemContext, userId: string): Promise<ShownAccount['audit']> {
  const lookedUp: AuditAction = 'account.looked_up'
  const rows = await ctx.sql(readActs, { userId, lookedUp, maxRows: MAX_ACTS })
  return rows.map(describeAct)
}

export async function pushedBlockers(ctx: SystemContext, userId: string): Promise<ShownBlocker[]> {
  const rows = await ctx.sql(readBlockers, { userId, now: ctx.clock.now(), maxRows: MAX_BLOCKERS })
  return rows.map(withIsoTimes)
}

/** What operators see of an account. */
async function showAccount(ctx: SystemContext, account: AccountRow): Promise<ShownAccount> {
  const userId = account.id
  const [[open], [lost], { blockers }, { transactions }, pushed_blockers, connections, audit] = await Promise.all([
    ctx.sql(countAccess, { userId, now: ctx.clock.now(), maxRows: MAX_ACCESS_COUNTED + 1 }),
    ctx.sql(lostMailbox, { userId }),
    findBlockers(ctx, userId),
    listTransactions(ctx, { userId, status: 'pending' }),
    pushedBlockers(ctx, userId),
    connectionsOf(ctx, userId),
    newestActs(ctx, userId),
  ])
  return {
    ...describeAccount(ctx, account),
    verified_at: account.email_verified_at?.toISOString() ?? null,
    old_mailbox_lost_at: lost?.at?.toISOString() ?? null,
    role: account.role,
    open_sessions: open?.sessions ?? 0,
    open_access_tokens: open?.tokens ?? 0,
    blockers,
    pending_transactions: transactions,
    pushed_blockers,
    connections,
    audit,
  }
}

/** For the page of an account. A withdrawn one shows only its withdrawal; null if nobody has this id. */
export async function watchAccount(
  ctx: SystemContext,
  userId: string,
): Promise<ShownAccount | { user_id: string; withdrawal_id: string; is_over: boolean } | null> {
  const [[withdrawal], account] = await Promise.all([ctx.sql(withdrawalOf, { userId }), findAccount(ctx, userId)])
  if (withdrawal) return { user_id: userId, withdrawal_id: withdrawal.id, is_over: withdrawal.is_over }
  return account && showAccount(ctx, account)
}

type AccountKey = { userId: string } | { email: string } | { externalId: string }

/** For the command. Finds a withdrawn account by its ids until `user_profile` has run, but not by its address. */
export async function showUser(ctx: SystemContext, by: AccountKey): Promise<ShownAccount> {
  const account = await findByKey(ctx, by)
  await noteLookUp(ctx, { userId: account.id, actor: 'operator', actorId: null, ip: null })
  return showAccount(ctx, account)
}

async function findByKey(ctx: SystemContext, by: AccountKey): Promise<AccountRow> {
  if ('userId' in by) {
    const [account, [withdrawal]] = await Promise.all([findAccount(ctx, by.userId), ctx.sql(withdrawalOf, by)])
    const sentence = withdrawal
      ? `The account ${withdrawal.is_over ? 'was' : 'is being'} deleted: withdrawal show ${withdrawal.id}`
      : NO_ACCOUNT
    return known(account, sentence)
  }
  if ('externalId' in by) {
    return known(await findAccountByExternalId(ctx, by.externalId), NO_ACCOUNT)
  }
  const address = parseAddress(by.email)
  if (!address) throw notAnAddress()
  return known(
    await findAccountByAddress(ctx, address.key),
    `${NO_ACCOUNT} ${NOT_BY_ADDRESS}: withdrawal show takes each of them.`,
  )
}

function known(account: AccountRow | null, sentence: string): AccountRow {
  if (!account) throw new AppError('USER_001', sentence)
  return account
}
