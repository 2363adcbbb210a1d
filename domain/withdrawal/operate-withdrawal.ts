import type { Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { retryWithdrawal as contract } from '@/contract/operator'
import type { Context, SystemContext } from '../context'
import { EVENT_RETRY_MS } from '../limits/durations'
import { AUDITED, auditedBy, auditValues, managerOf, OPERATOR_COMMAND } from '../manager'
import { literal, sql, statement, text, time } from '../sql'

// One statement, so that the retries and the audit row of the operator are written together.
const retry = statement(
  'retry-withdrawal',
  { ...AUDITED, withdrawalId: text, retryUntil: time },
  { steps: text.list },
  (v) => sql`WITH withdrawal AS (
     SELECT id FROM withdrawals WHERE id = ${v.withdrawalId}
   ), notifications AS (
     UPDATE deletion_tasks SET due_at = ${v.now}
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
     ${auditedBy(literal('withdrawal.retried'), sql`withdrawal`, v)}
   )
   SELECT ARRAY(SELECT step FROM steps) AS steps FROM withdrawal`,
)

/** Makes everything that has failed due now, dead letters included; a step that was never tried keeps its time. Returns the steps that will run. */
export async function retryWithdrawal(
  ctx: SystemContext,
  withdrawalId: string,
  by = OPERATOR_COMMAND,
): Promise<string[]> {
  const audited = auditValues(ctx, by)
  const retryUntil = new Date(audited.now.getTime() + EVENT_RETRY_MS * ctx.timeScale)
  const [row] = await ctx.sql(retry, { ...audited, withdrawalId, retryUntil })
  if (!row) throw new AppError('WITHDRAWAL_004')
  return row.steps
}

/** Of the admin API. */
export const retryWithdrawalOf = async (ctx: Context, { withdrawalId }: Input<typeof contract>) => ({
  withdrawal_id: withdrawalId,
  retried_steps: await retryWithdrawal(ctx, withdrawalId, managerOf(ctx)),
})
