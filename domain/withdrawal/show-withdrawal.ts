import { AppError } from '@/contract/errors'
import type { ShownWithdrawal } from '@/contract/operator'
import { RECEIPT_KINDS } from '@/contract/vocabulary'
import { tasksOf } from '../applications/list-tasks'
import { listDeliveries } from '../applications/operate-deliveries'
import { ACT, describeAct, SELECT_ACT } from '../audit'
import type { SystemContext } from '../context'
import { withIsoTimes } from '../iso-times'
import { integer, isOneOf, sql, statement, text, time } from '../sql'
import { FACTS, isoOf, SELECT_FACTS, stepsOf, toFacts } from './withdrawal-facts'

/** For each list. */
const MAX_SHOWN = 200

const OF = { id: text, maxRows: integer }

const readFacts = statement(
  'withdrawal-facts',
  { id: text },
  { ...FACTS, user_id: text.orNull },
  (v) => sql`SELECT ${SELECT_FACTS}, w.user_id FROM withdrawals w WHERE w.id = ${v.id}`,
)
const readNotices = statement(
  'notices-of-withdrawal',
  OF,
  { notice_id: text, kind: text, attempts: integer, due_at: time.orNull, sent_at: time.orNull, failed_at: time.orNull },
  (v) => sql`SELECT id AS notice_id, kind, attempts, due_at, sent_at, failed_at FROM notices
   WHERE user_id = (SELECT user_id FROM withdrawals WHERE id = ${v.id}) AND withdrawal_id = ${v.id}
   ORDER BY created_at, id LIMIT ${v.maxRows}`,
)
// The row of the start belongs to the person; the rows of operators and services belong to them.
const readAudit = statement(
  'audit-of-withdrawal',
  OF,
  ACT,
  (v) => sql`SELECT ${SELECT_ACT} FROM (
     SELECT * FROM audit_events
     WHERE user_id = (SELECT user_id FROM withdrawals WHERE id = ${v.id}) AND subject_id = ${v.id}
     UNION ALL
     SELECT * FROM audit_events WHERE action IN ('withdrawal.retried', 'task.retried', 'task.waived')
       AND ${isOneOf(
         sql`subject_id`,
         sql`SELECT ${v.id}::text UNION ALL SELECT n.id FROM deletion_tasks n WHERE n.withdrawal_id = ${v.id}`,
       )}
   ) audit ORDER BY at DESC, id DESC LIMIT ${v.maxRows}`,
)
const readReceipts = statement(
  'receipts-of-withdrawal',
  { id: text },
  { kind: text.of<(typeof RECEIPT_KINDS)[number]>(), issued_at: time },
  (v) => sql`SELECT kind, issued_at FROM withdrawal_receipts WHERE withdrawal_id = ${v.id}`,
)

/** For operators: what a withdrawal has done and what it waits for; of the person only the id of the account. */
export async function showWithdrawal(ctx: SystemContext, id: string): Promise<ShownWithdrawal> {
  const [row] = await ctx.sql(readFacts, { id })
  if (!row) throw new AppError('WITHDRAWAL_004')
  const few = { id, maxRows: MAX_SHOWN + 1 }
  const [steps, tasks, { deliveries }, notices, audit, receipts] = await Promise.all([
    stepsOf(ctx, [id]),
    tasksOf(ctx, [id], few.maxRows),
    listDeliveries(ctx, { withdrawalId: id, limit: few.maxRows }),
    ctx.sql(readNotices, few),
    ctx.sql(readAudit, few),
    ctx.sql(readReceipts, { id }),
  ])
  return {
    ...toFacts(row, ctx.clock.now()),
    user_id: row.user_id,
    deletion_steps: steps(id),
    tasks: tasks.slice(0, MAX_SHOWN),
    deliveries: deliveries.slice(0, MAX_SHOWN),
    notices: notices.slice(0, MAX_SHOWN).map(withIsoTimes),
    audit: audit.slice(0, MAX_SHOWN).map(describeAct),
    receipts: RECEIPT_KINDS.flatMap((kind) => receipts.filter((row) => row.kind === kind).map(withIsoTimes)),
    receipt_due_at: isoOf(row.receipt_due_at),
    is_cut: [tasks, deliveries, notices, audit].some((rows) => rows.length > MAX_SHOWN),
  }
}
