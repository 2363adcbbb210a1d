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
