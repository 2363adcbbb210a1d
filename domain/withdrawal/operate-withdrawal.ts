import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { retryWithdrawal as contract } from '@/contract/operator'
import { OPENS_IF_PRESENT } from '../applications/task-states'
import { EVENT_RETRY_MS } from '../limits/durations'
import { auditManager, type ManagerContext } from '../manager'
import { boolean, sql, statement, text, time } from '../sql'

const retry = statement(
  'retry-withdrawal',
  { withdrawalId: text, now: time, retryUntil: time },
  { steps: text.list, retried: boolean },
  (v) => sql`WITH tasks AS (
     UPDATE deletion_tasks n SET due_at = ${v.now}, ${OPENS_IF_PRESENT}
     WHERE withdrawal_id = ${v.withdrawalId} AND status <> 'completed' AND attempts > 0
       AND (accepted_at IS NULL OR due_at <= ${v.now} OR completed_at IS NOT NULL)
     RETURNING id
   ), deliveries AS (
     UPDATE event_deliveries d SET status = 'pending', due_at = ${v.now}, dead_at = NULL, retry_until = ${v.retryUntil}
     FROM events e
     WHERE e.withdrawal_id = ${v.withdrawalId} AND d.event_id = e.id AND d.status <> 'delivered' AND d.attempts > 0
     RETURNING d.event_id
   ), steps AS (
     UPDATE deletion_steps SET due_at = ${v.now}
     WHERE withdrawal_id = ${v.withdrawalId} AND status <> 'completed' AND (attempts > 0 OR erased_at IS NOT NULL)
     RETURNING step, last_error IS NOT NULL AS failed
   )
   SELECT ARRAY(SELECT step FROM steps) AS steps,
     EXISTS (SELECT FROM steps WHERE failed) OR EXISTS (SELECT FROM tasks) OR EXISTS (SELECT FROM deliveries) AS retried
   FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

/** Makes everything that has failed due now, dead letters included; a step that was never tried keeps its time. */
export const retryWithdrawal = (
  ctx: ManagerContext,
  { withdrawalId }: Input<typeof contract>,
): Promise<Data<typeof contract>> =>
  ctx.transaction(async (tx) => {
    const now = tx.clock.now()
    const retryUntil = new Date(now.getTime() + EVENT_RETRY_MS * tx.timeScale)
    const [row] = await tx.sql(retry, { withdrawalId, now, retryUntil })
    if (!row) throw new AppError('WITHDRAWAL_004')
    if (row.retried) await auditManager(tx, 'withdrawal.retried', withdrawalId)
    return { withdrawal_id: withdrawalId, retried: row.retried, retried_steps: row.steps }
  })
