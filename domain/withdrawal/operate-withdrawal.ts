import { AppError } from '@/contract/errors'
import { STEPS, type Step } from '@/contract/withdrawal'
import type { DeletionStep } from '@/prisma/generated/client'
import { disabledApps } from '../applications/operate-tasks'
import type { SystemContext } from '../context'
import { type DeletionCount, describeCounts } from '../deletion-counts'
import { EVENT_RETRY_MS } from '../limits/durations'
import { audit, OPERATOR_COMMAND_ID, sql, statement, text, time } from '../sql'

const byTime = (one: DeletionStep, other: DeletionStep) =>
  one.estimatedCompletion.getTime() - other.estimatedCompletion.getTime() ||
  STEPS.indexOf(one.step as Step) - STEPS.indexOf(other.step as Step)

/** For the operator: states, times and errors of a withdrawal, and no personal data. */
export async function showWithdrawal(ctx: SystemContext, withdrawalId: string): Promise<object> {
  const withdrawal = await ctx.db.withdrawal.findUnique({
    where: { id: withdrawalId },
    include: {
      steps: true,
      counts: true,
      notifications: { orderBy: { appName: 'asc' } },
      events: { orderBy: { occurredAt: 'asc' }, include: { deliveries: { orderBy: { appId: 'asc' } } } },
    },
  })
  if (!withdrawal) throw new AppError('WITHDRAWAL_004')
  const disabled = await disabledApps(ctx)
  return {
    withdrawal_id: withdrawal.id,
    status: withdrawal.completedAt ? 'completed' : 'processing',
    reason: withdrawal.reason,
    started_at: withdrawal.startedAt,
    scheduled_completion: withdrawal.scheduledCompletion,
    completed_at: withdrawal.completedAt,
    due_by: withdrawal.dueBy,
    purge_due_at: withdrawal.purgeDueAt,
    purged_at: withdrawal.purgedAt,
    deletion_steps: withdrawal.steps.toSorted(byTime).map((step) => ({
      step: step.step,
      status: step.status,
      estimated_completion: step.estimatedCompletion,
      completed_at: step.completedAt,
      due_at: step.dueAt,
      attempts: step.attempts,
      last_error: step.lastError,
      ...(step.completedAt &&
        step.isCounted &&
        describeCounts(
          withdrawal.counts.filter((count) => count.step === step.step) as DeletionCount[],
          withdrawal.purgeDueAt.toISOString(),
        )),
    })),
    applications: withdrawal.notifications.map((notification) => ({
      app_id: notification.appId,
      name: notification.appName,
      webhook_id: notification.id,
      phase: notification.phase,
      status: notification.status,
      accepted_at: notification.acceptedAt,
      waived_at: notification.waivedAt,
      waived_reason: notification.waivedReason,
      completed_at: notification.completedAt,
      due_at: disabled.has(notification.appId) ? null : notification.dueAt,
      attempts: notification.attempts,
      last_error: notification.lastError,
    })),
    events: withdrawal.events.map((event) => ({
      event_id: event.id,
      type: event.type,
      occurred_at: event.occurredAt,
      deliveries: event.deliveries.map((delivery) => ({
        app_id: delivery.appId,
        webhook_id: delivery.id,
        status: delivery.status,
        attempts: delivery.attempts,
        due_at: disabled.has(delivery.appId) ? null : delivery.dueAt,
        last_status: delivery.lastStatus,
        last_error: delivery.lastError,
        delivered_at: delivery.deliveredAt,
        dead_at: delivery.deadAt,
      })),
    })),
  }
}

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
