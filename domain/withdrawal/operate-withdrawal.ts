import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { EVENT_RETRY_MS } from '../limits/durations'
import { audit, OPERATOR_COMMAND_ID, sql, statement, text, time } from '../sql'

// One statement, so that the retries and the audit row of the operator are written together.
const retry = statement(
  'retry-withdrawal',
  { withdrawalId: text, operatorId: text, now: time, auditId: text, retryUntil: time },
  { steps: text.list },
  (v) => sql`WITH withdrawal AS (
     SELECT id FROM withdrawals WHERE id = ${v.withdrawalId}
   ), notifications AS (
     UPDATE app_notifications SET due_at = ${v.now}
     WHERE withdrawal_id = ${v.withdrawalId} AND status <> 'completed' AND attempts > 0
       AND (accepted_at IS NULL OR due_at <= ${v.now})
   ), deliveries AS (
     UPDATE event_deliveries d SET status = 'pending', due_at = ${v.now}, dead_at = NULL, retry_until = ${v.retryUntil}
     FROM events e
     WHERE e.withdrawal_id = ${v.withdrawalId} AND d.event_id = e.id AND d.status <> 'delivered' AND d.attempts > 0
   ), steps AS (
     UPDATE deletion_steps SET due_at = ${v.now}
     WHERE withdrawal_id = ${v.withdrawalId} AND status <> 'completed' AND (attempts > 0 OR erased_at IS NOT NULL)
     RETURNING step
   ), audited AS (
     ${audit('withdrawal.retried', { from: sql`withdrawal`, id: v.auditId, user: v.operatorId, actor: sql`'operator'`, subject: sql`id`, at: v.now })}
   )
   SELECT ARRAY(SELECT step FROM steps) AS steps FROM withdrawal`,
)

/**
 * Makes everything that has failed due now, dead letters included; a step that was never tried keeps its time. Returns the steps that
 * will run. The audit row belongs to the operator, because no new row may refer to the user who is being erased.
 */
export async function retryWithdrawal(
  ctx: SystemContext,
  withdrawalId: string,
  operatorId = OPERATOR_COMMAND_ID,
): Promise<string[]> {
  const [now, auditId] = [ctx.clock.now(), ctx.secrets.randomId('aud_')]
  const retryUntil = new Date(now.getTime() + EVENT_RETRY_MS * ctx.timeScale)
  const [row] = await ctx.sql(retry, { withdrawalId, operatorId, now, auditId, retryUntil })
  if (!row) throw new AppError('WITHDRAWAL_004')
  return row.steps
}
