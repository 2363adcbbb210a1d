import type { WatchedTask } from '@/contract/tasks'
import { CATEGORIES, RECEIPT_KINDS } from '@/contract/vocabulary'
import { STATE_COLUMNS, TASK_COLUMNS, taskStateOf } from '../applications/task-states'
import type { SystemContext } from '../context'
import { readDeletionCounts } from '../deletion-counts'
import { boolean, integer, isOneOf, type RowOf, type Shape, sql, statement, text, time } from '../sql'
import type { WithdrawalState } from './list-withdrawals'
import { placeOf } from './steps/deletion-steps'

/** For each list; the page says if there are more. */
const MAX_SHOWN = 200

type TaskRow = RowOf<typeof readTasks>

const OF = { id: text, maxRows: integer } satisfies Shape

const readWithdrawal = statement(
  'watch-withdrawal',
  { id: text },
  {
    state: text.of<WithdrawalState>(),
    started_at: time,
    due_by: time.orNull,
    scheduled_completion: time,
    completed_at: time.orNull,
    purge_due_at: time,
    purged_at: time.orNull,
    receipt_due_at: time.orNull,
  },
  (
    v,
  ) => sql`SELECT CASE WHEN completed_at IS NULL THEN 'processing' WHEN purged_at IS NULL THEN 'completed' ELSE 'purged' END AS state,
     started_at, due_by, scheduled_completion, completed_at, purge_due_at, purged_at, receipt_due_at
   FROM withdrawals WHERE id = ${v.id}`,
)
const readSteps = statement(
  'watch-steps-of-withdrawal',
  { id: text },
  {
    step: text,
    status: text,
    estimated_completion: time,
    due_at: time.orNull,
    attempts: integer,
    last_error: text.orNull,
    erased_at: time.orNull,
    completed_at: time.orNull,
  },
  (v) => sql`SELECT step, status, estimated_completion, due_at, attempts, last_error, erased_at, completed_at
   FROM deletion_steps WHERE withdrawal_id = ${v.id} ORDER BY estimated_completion, ${placeOf(sql`step`)}`,
)
// Open ones first.
const readTasks = statement(
  'watch-tasks-of-withdrawal',
  OF,
  {
    ...TASK_COLUMNS,
    id: text,
    app_id: text,
    app_name: text,
    phase: text,
    attempts: integer,
    last_error: text.orNull,
    failure_code: text.orNull,
    progress_done: integer.orNull,
    progress_total: integer.orNull,
    waived_reason: text.orNull,
    completed_at: time.orNull,
    is_app_disabled: boolean,
    polls: boolean,
  },
  (
    v,
  ) => sql`SELECT n.id, n.app_id, n.app_name, n.phase, n.attempts, n.last_error, n.failure_code, n.progress_done, n.progress_total,
     n.waived_reason, n.completed_at, ${STATE_COLUMNS(sql`n`)}, coalesce(a.disabled_at IS NOT NULL, false) AS is_app_disabled,
     coalesce(a.endpoint IS NULL, false) AS polls
   FROM app_notifications n LEFT JOIN connected_apps a ON a.id = n.app_id
   WHERE n.withdrawal_id = ${v.id} ORDER BY n.status = 'completed', n.app_name, n.id LIMIT ${v.maxRows}`,
)
const readDeliveries = statement(
  'watch-deliveries-of-withdrawal',
  OF,
  {
    id: text,
    event_id: text,
    type: text,
    occurred_at: time,
    app_id: text,
    app_name: text,
    status: text,
    attempts: integer,
    last_status: integer.orNull,
    last_error: text.orNull,
    due_at: time.orNull,
    delivered_at: time.orNull,
  },
  (
    v,
  ) => sql`SELECT d.id, e.id AS event_id, e.type, e.occurred_at, d.app_id, a.name AS app_name, d.status, d.attempts, d.last_status,
     d.last_error, d.due_at, d.delivered_at
   FROM events e JOIN event_deliveries d ON d.event_id = e.id JOIN connected_apps a ON a.id = d.app_id
   WHERE e.withdrawal_id = ${v.id} ORDER BY e.occurred_at, a.name, d.id LIMIT ${v.maxRows}`,
)
const readNotices = statement(
  'watch-notices-of-withdrawal',
  OF,
  { id: text, kind: text, attempts: integer, due_at: time.orNull, sent_at: time.orNull, failed_at: time.orNull },
  (v) => sql`SELECT id, kind, attempts, due_at, sent_at, failed_at FROM notices
   WHERE user_id = (SELECT user_id FROM withdrawals WHERE id = ${v.id}) AND withdrawal_id = ${v.id}
   ORDER BY created_at, id LIMIT ${v.maxRows}`,
)
// The row of the start belongs to the person; the rows of operators and services belong to them.
const readAudit = statement(
  'watch-audit-of-withdrawal',
  OF,
  { id: text, action: text, actor: text, requested_by: text.orNull, at: time },
  (v) => sql`SELECT id, action, actor, requested_by, at FROM (
     SELECT * FROM audit_events
     WHERE user_id = (SELECT user_id FROM withdrawals WHERE id = ${v.id}) AND subject_id = ${v.id}
     UNION ALL
     SELECT * FROM audit_events WHERE action IN ('withdrawal.retried', 'task.retried', 'task.waived')
       AND ${isOneOf(
         sql`subject_id`,
         sql`SELECT ${v.id}::text UNION ALL SELECT n.id FROM app_notifications n WHERE n.withdrawal_id = ${v.id}`,
       )}
   ) audit ORDER BY at, id LIMIT ${v.maxRows}`,
)
const readReceipts = statement(
  'watch-receipts-of-withdrawal',
  { id: text },
  { kind: text, issued_at: time },
  (v) => sql`SELECT kind, issued_at FROM withdrawal_receipts WHERE withdrawal_id = ${v.id}`,
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
