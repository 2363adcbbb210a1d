import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from '../context'
import { RAISE_VERSION } from '../user'

const insert = statement(
  'add-transaction',
  `WITH account AS (${RAISE_VERSION}), added AS (
     INSERT INTO transactions (id, user_id, status, description, amount_cents, created_at)
     SELECT $1, id, $3, $4, $5, $6 FROM account
     RETURNING id, user_id
   )
   INSERT INTO transaction_audit_logs (id, user_id, transaction_id, action, actor_name, ip, at)
   SELECT $7, added.user_id, added.id, 'transaction.added', account.name, $8, $6 FROM added, account
   RETURNING transaction_id`,
)

export type TransactionStatus = 'pending' | 'settled'

/** Transactions belong to the product that adopts the service; a pending one holds a withdrawal back. */
export async function addTransaction(
  ctx: SystemContext,
  input: { userId: string; status: TransactionStatus; description: string; amountCents: number; ip: string },
): Promise<string> {
  const id = ctx.secrets.randomId('txn_')
  const rows = await ctx.sql(insert, [
    id,
    input.userId,
    input.status,
    input.description,
    input.amountCents,
    ctx.clock.now(),
    ctx.secrets.randomId('tal_'),
    input.ip,
  ])
  if (rows.length === 0) throw new AppError('REQUEST_001', 'There is no active user with this id.')
  return id
}

const endPending = statement(
  'end-transaction',
  `WITH account AS (
     UPDATE users u SET version = version + 1 FROM transactions t
     WHERE t.id = $1 AND t.status = 'pending' AND u.id = t.user_id AND u.withdrawn_at IS NULL
     RETURNING u.id, u.name
   ), ended AS (
     UPDATE transactions t SET status = $2 FROM account
     WHERE t.id = $1 AND t.user_id = account.id AND t.status = 'pending'
     RETURNING t.id, t.user_id
   )
   INSERT INTO transaction_audit_logs (id, user_id, transaction_id, action, actor_name, ip, at)
   SELECT $3, ended.user_id, ended.id, 'transaction.' || $2, account.name, '', $4 FROM ended, account
   RETURNING transaction_id`,
)

/** Of several calls for one transaction the first has an effect; the others are refused. */
export async function endTransaction(
  ctx: SystemContext,
  { id, status }: { id: string; status: 'settled' | 'cancelled' },
): Promise<void> {
  const rows = await ctx.sql(endPending, [id, status, ctx.secrets.randomId('tal_'), ctx.clock.now()])
  if (rows.length > 0) return
  const transaction = await ctx.db.transaction.findUnique({ where: { id } })
  if (!transaction) throw new AppError('REQUEST_001', 'There is no transaction with this id.')
  if (transaction.status === 'pending') {
    throw new AppError('REQUEST_001', 'The account of this transaction is withdrawn; the transaction goes with it.')
  }
  throw new AppError('REQUEST_001', `This transaction is ${transaction.status} already.`)
}
