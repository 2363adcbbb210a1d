import type { WatchedTask } from '@/contract/tasks'
import { CATEGORIES, RECEIPT_KINDS } from '@/contract/vocabulary'
import { STATE_COLUMNS, type TaskColumns, taskStateOf } from '../applications/task-states'
import type { SystemContext } from '../context'
import { isOneOf, sql, statement } from '../sql'
import { readDeletionCounts } from './deletion-counts'
import type { WithdrawalState } from './list-withdrawals'
import { placeOf } from './steps/deletion-steps'

/** For each list; the page says if there are more. */
const MAX_SHOWN = 200

interface WithdrawalRow {
  state: WithdrawalState
  started_at: Date
  due_by: Date | null
  scheduled_completion: Date
  completed_at: Date | null
  purge_due_at: Date
  purged_at: Date | null
  receipt_due_at: Date | null
}

interface StepRow {
  step: string
  status: string
  estimated_completion: Date
  due_at: Date | null
  attempts: number
  last_error: string | null
  erased_at: Date | null
  completed_at: Date | null
}

interface TaskRow extends TaskColumns {
  id: string
  app_id: string
  app_name: string
  phase: string
  attempts: number
  last_error: string | null
  failure_code: string | null
  progress_done: number | null
  progress_total: number | null
  waived_reason: string | null
  completed_at: Date | null
  is_app_disabled: boolean
  polls: boolean
}

interface DeliveryRow {
  id: string
  event_id: string
  type: string
  occurred_at: Date
  app_id: string
  app_name: string
  status: string
  attempts: number
  last_status: number | null
  last_error: string | null
  due_at: Date | null
  delivered_at: Date | null
}

interface NoticeRow {
  id: string
  kind: string
  attempts: number
  due_at: Date | null
  sent_at: Date | null
  failed_at: Date | null
}

interface AuditRow {
  id: string
  action: string
  actor: string
  requested_by: string | null
  at: Date
}

interface Of {
  id: string
  maxRows: number
}

const readWithdrawal = statement<{ id: string }, WithdrawalRow>(
  'watch-withdrawal',
  (
    v,
  ) => `SELECT CASE WHEN completed_at IS NULL THEN 'processing' WHEN purged_at IS NULL THEN 'completed' ELSE 'purged' END AS state,
     started_at, due_by, scheduled_completion, completed_at, purge_due_at, purged_at, receipt_due_at
   FROM withdrawals WHERE id = ${v.id}`,
)
const readSteps = statement<{ id: string }, StepRow>(
  'watch-steps-of-withdrawal',
  (v) => `SELECT step, status, estimated_completion, due_at, attempts, last_error, erased_at, completed_at
   FROM deletion_steps WHERE withdrawal_id = ${v.id} ORDER BY estimated_completion, ${placeOf(sql`step`)}`,
)
// Open ones first.
const readTasks = statement<Of, TaskRow>(
  'watch-tasks-of-withdrawal',
  (
    v,
  ) => `SELECT n.id, n.app_id, n.app_name, n.phase, n.attempts, n.last_error, n.failure_code, n.progress_done, n.progress_total,
     n.waived_reason, n.completed_at, ${STATE_COLUMNS('n')}, coalesce(a.disabled_at IS NOT NULL, false) AS is_app_disabled,
     coalesce(a.endpoint IS NULL, false) AS polls
   FROM app_notifications n LEFT JOIN connected_apps a ON a.id = n.app_id
   WHERE n.withdrawal_id = ${v.id} ORDER BY n.status = 'completed', n.app_name, n.id LIMIT ${v.maxRows}`,
)
const readDeliveries = statement<Of, DeliveryRow>(
  'watch-deliveries-of-withdrawal',
  (
    v,
  ) => `SELECT d.id, e.id AS event_id, e.type, e.occurred_at, d.app_id, a.name AS app_name, d.status, d.attempts, d.last_status,
     d.last_error, d.due_at, d.delivered_at
   FROM events e JOIN event_deliveries d ON d.event_id = e.id JOIN connected_apps a ON a.id = d.app_id
   WHERE e.withdrawal_id = ${v.id} ORDER BY e.occurred_at, a.name, d.id LIMIT ${v.maxRows}`,
)
const readNotices = statement<Of, NoticeRow>(
  'watch-notices-of-withdrawal',
  (v) => `SELECT id, kind, attempts, due_at, sent_at, failed_at FROM notices
   WHERE user_id = (SELECT user_id FROM withdrawals WHERE id = ${v.id}) AND withdrawal_id = ${v.id}
   ORDER BY created_at, id LIMIT ${v.maxRows}`,
)
// The row of the start belongs to the person; the rows of operators and services belong to them.
const readAudit = statement<Of, AuditRow>(
  'watch-audit-of-withdrawal',
  (v) => `SELECT id, action, actor, requested_by, at FROM (
     SELECT * FROM audit_events
     WHERE user_id = (SELECT user_id FROM withdrawals WHERE id = ${v.id}) AND subject_id = ${v.id}
     UNION ALL
     SELECT * FROM audit_events WHERE action IN ('withdrawal.retried', 'task.retried', 'task.waived')
       AND ${isOneOf(
         'subject_id',
         `SELECT ${v.id}::text UNION ALL SELECT n.id FROM app_notifications n WHERE n.withdrawal_id = ${v.id}`,
       )}
   ) audit ORDER BY at, id LIMIT ${v.maxRows}`,
)
const readReceipts = statement<{ id: string }, { kind: string; issued_at: Date }>(
  'watch-receipts-of-withdrawal',
  (v) => `SELECT kind, issued_at FROM withdrawal_receipts WHERE withdrawal_id = ${v.id}`,
)

/** For the operator: what a withdrawal has done and what it waits for; no personal data. Null if there is none. */
export async function watchWithdrawal(ctx: SystemContext, id: string) {
  const [withdrawal] = await ctx.sql(readWithdrawal, { id })
  if (!withdrawal) return null
  const few = { id, maxRows: MAX_SHOWN + 1 }
  const [steps, counts, tasks, deliveries, notices, audit, receipts] = await Promise.all([
    ctx.sql(readSteps, { id }),
    ctx.sql(readDeletionCounts, { withdrawalId: id }),
    ctx.sql(readTasks, few),
    ctx.sql(readDeliveries, few),
    ctx.sql(readNotices, few),
    ctx.sql(readAudit, few),
    ctx.sql(readReceipts, { id }),
  ])
  const now = ctx.clock.now()
  const ordered = counts.sort((a, b) => CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category))
  return {
    withdrawalId: id,
    state: withdrawal.state,
    isPastDue: withdrawal.completed_at === null && withdrawal.due_by !== null && withdrawal.due_by <= now,
    startedAt: withdrawal.started_at,
    dueBy: withdrawal.due_by,
    scheduledCompletion: withdrawal.scheduled_completion,
    completedAt: withdrawal.completed_at,
    purgeDueAt: withdrawal.purge_due_at,
    purgedAt: withdrawal.purged_at,
    receiptDueAt: withdrawal.receipt_due_at,
    steps: steps.map((row) => ({
      step: row.step,
      status: row.status,
      estimatedCompletion: row.estimated_completion,
      dueAt: row.due_at,
      attempts: row.attempts,
      lastError: row.last_error,
      erasedAt: row.erased_at,
      completedAt: row.completed_at,
      counts: ordered.filter(({ step }) => step === row.step).map(({ step, ...count }) => count),
    })),
    tasks: tasks.slice(0, MAX_SHOWN).map((row) => toTask(row, now)),
    deliveries: deliveries.slice(0, MAX_SHOWN).map((row) => ({
      id: row.id,
      eventId: row.event_id,
      type: row.type,
      occurredAt: row.occurred_at,
      appId: row.app_id,
      appName: row.app_name,
      status: row.status,
      attempts: row.attempts,
      lastStatus: row.last_status,
      lastError: row.last_error,
      dueAt: row.due_at,
      deliveredAt: row.delivered_at,
    })),
    notices: notices.slice(0, MAX_SHOWN).map((row) => ({
      id: row.id,
      kind: row.kind,
      attempts: row.attempts,
      dueAt: row.due_at,
      sentAt: row.sent_at,
      failedAt: row.failed_at,
    })),
    audit: audit.slice(0, MAX_SHOWN).map(({ id, action, actor, requested_by: requestedBy, at }) => ({
      id,
      action,
      actor,
      requestedBy,
      at,
    })),
    receipts: RECEIPT_KINDS.flatMap((kind) =>
      receipts.filter((row) => row.kind === kind).map(({ issued_at: issuedAt }) => ({ kind, issuedAt })),
    ),
    isCut: [tasks, deliveries, notices, audit].some((rows) => rows.length > MAX_SHOWN),
  }
}

const toTask = (row: TaskRow, now: Date): WatchedTask => ({
  id: row.id,
  appId: row.app_id,
  appName: row.app_name,
  phase: row.phase,
  state: taskStateOf(row, now),
  isAppDisabled: row.is_app_disabled,
  polls: row.polls,
  attempts: row.attempts,
  lastError: row.last_error,
  failureCode: row.failure_code,
  progress:
    row.progress_done === null || row.progress_total === null
      ? null
      : { done: row.progress_done, total: row.progress_total },
  dueAt: row.due_at,
  completedAt: row.completed_at,
  waived: row.waived_at && row.waived_reason ? { reason: row.waived_reason, at: row.waived_at } : null,
})
