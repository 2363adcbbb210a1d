import type { Amount } from '@/contract/amount'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { endTransaction as contract, ShownTransaction } from '@/contract/operator'
import type { SystemContext } from '../context'
import { lockAccountOfId, lockForService, unknownUser } from '../lock-account'
import { auditOnAccount, type ManagerContext } from '../manager'
import { integer, openAccount, sql, statement, text, time } from '../sql'

const insert = statement(
  'add-transaction',
  {
    id: text,
    userId: text,
    status: text.of<TransactionStatus>(),
    title: text,
    amountMinor: integer,
    currency: text.orNull,
    url: text.orNull,
    now: time,
    logId: text,
    ip: text,
  },
  { transaction_id: text },
  (v) => sql`WITH account AS (${openAccount(v.userId)}), added AS (
     INSERT INTO transactions (id, user_id, status, description, amount_cents, currency, url, created_at)
     SELECT ${v.id}, id, ${v.status}, ${v.title}, ${v.amountMinor}, ${v.currency}, ${v.url}, ${v.now}::timestamptz FROM account
     RETURNING id, user_id
   )
   INSERT INTO transaction_audit_logs (id, user_id, transaction_id, action, actor_name, ip, at)
   SELECT ${v.logId}, added.user_id, added.id, 'transaction.added', account.name, ${v.ip}, ${v.now} FROM added, account
   RETURNING transaction_id`,
)

type TransactionStatus = 'pending' | 'settled'

interface NewTransaction {
  userId: string
  status: TransactionStatus
  title: string
  /** What has to be paid; left out if that is not known. */
  amount?: Amount | null
  /** Where the person pays it: an https URL. */
  url?: string | null
  ip: string
}

/** The adopter's product writes transactions; a pending one holds a withdrawal back. */
export async function addTransaction(
  ctx: SystemContext,
  { amount = null, url = null, ...input }: NewTransaction,
): Promise<string> {
  const { secrets, clock } = ctx
  const id = secrets.randomId('txn_')
  const { minor_units: amountMinor = 0, currency = null } = amount ?? {}
  const values = { ...input, id, url, amountMinor, currency, now: clock.now(), logId: secrets.randomId('tal_') }
  const rows = await ctx.sql(insert, values)
  if (rows.length === 0) throw unknownUser()
  return id
}

const read = statement(
  'transaction-to-end',
  { id: text },
  { user_id: text, status: text },
  (v) => sql`SELECT user_id, status FROM transactions WHERE id = ${v.id}`,
)
const endPending = statement(
  'end-transaction',
  { id: text, status: text.of<'settled' | 'cancelled'>(), now: time, logId: text },
  { transaction_id: text },
  (v) => sql`WITH ended AS (
     UPDATE transactions SET status = ${v.status} WHERE id = ${v.id} AND status = 'pending' RETURNING id, user_id
   )
   INSERT INTO transaction_audit_logs (id, user_id, transaction_id, action, actor_name, ip, at)
   SELECT ${v.logId}, u.id, ended.id, 'transaction.' || ${v.status}, u.name, '', ${v.now}::timestamptz
   FROM ended JOIN users u ON u.id = ended.user_id
   RETURNING transaction_id`,
)

export const unknownTransaction = () => new AppError('REQUEST_005', 'There is no transaction with this ID.')

/** The account of the transaction with this id; null if there is none. */
export async function ownerOfTransaction(ctx: SystemContext, id: string): Promise<string | null> {
  const [transaction] = await ctx.sql(read, { id })
  return transaction?.user_id ?? null
}

/** Of several calls for one transaction, only the first has an effect; the others are refused. */
export const endTransaction = (
  ctx: ManagerContext,
  { transactionId: id, status }: Input<typeof contract>,
): Promise<Data<typeof contract>> =>
  ctx.transaction(async (tx) => {
    const [transaction] = await tx.sql(read, { id })
    if (!transaction) throw unknownTransaction()
    const { user_id: userId } = transaction
    const account = await (tx.actor ? lockForService(tx, { userId }) : lockAccountOfId(tx, userId))
    if (!account) {
      throw new AppError('REQUEST_001', 'The account of this transaction is withdrawn; the transaction goes with it.')
    }
    const [ended] = await tx.sql(endPending, { id, status, now: tx.clock.now(), logId: tx.secrets.randomId('tal_') })
    if (!ended) {
      const [again] = await tx.sql(read, { id })
      throw new AppError('REQUEST_001', `This transaction is ${again?.status} already.`)
    }
    await auditOnAccount(tx, `transaction.${status}`, { userId, subject: id })
    return { transaction_id: id, status }
  })

const MAX_LISTED = 1_000

/** For operators: all transactions of a user, the newest first, or the pending ones of everybody, the oldest first; or one of them. */
export async function listTransactions(
  ctx: SystemContext,
  { userId, status, id }: { userId?: string | undefined; status?: 'pending'; id?: string },
): Promise<{ transactions: ShownTransaction[]; is_cut: boolean }> {
  const rows = await ctx.db.transaction.findMany({
    where: id ? { id } : userId === undefined ? { status: 'pending' } : { userId, ...(status && { status }) },
    orderBy: { createdAt: userId === undefined ? 'asc' : 'desc' },
    take: MAX_LISTED + 1,
  })
  const transactions = rows.slice(0, MAX_LISTED).map((row) => ({
    transaction_id: row.id,
    user_id: row.userId,
    status: row.status,
    title: row.description,
    amount: row.currency === null ? null : { minor_units: row.amountMinor, currency: row.currency },
    url: row.url,
    created_at: row.createdAt.toISOString(),
  }))
  return { transactions, is_cut: rows.length > MAX_LISTED }
}
