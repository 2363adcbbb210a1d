import { type ShownTask, TASK_STATES, type TaskState } from '@/contract/tasks'
import { retriedAt } from '../audit'
import type { SystemContext } from '../context'
import { boolean, fenced, integer, type Part, type RowOf, sql, statement, text, time } from '../sql'
import {
  describeWaiver,
  isOpenTask,
  isPresent,
  openTaskState,
  stateColumns,
  TASK_COLUMNS,
  taskStateOf,
  WAIVED,
} from './task-states'

const MAX_LISTED = 1_000
/** On the overview of operators. */
const MAX_SHOWN = 50

type TaskRow = RowOf<typeof readTasks>

const TASK = {
  ...TASK_COLUMNS,
  id: text,
  withdrawal_id: text,
  app_id: text,
  app_name: text,
  phase: text,
  is_app_disabled: boolean,
  polls: boolean,
  started_at: time,
  attempts: integer,
  last_error: text.orNull,
  failing_since: time.orNull,
  retried_at: time.orNull,
  failure_code: text.orNull,
  progress_done: integer.orNull,
  progress_total: integer.orNull,
  waived_reason: text.orNull,
  waived_sentence: text.orNull,
  waive_reasons: text.list,
  absent_at: time.orNull,
}
const SELECTED = sql`n.id, n.withdrawal_id, n.app_id, n.app_name, n.phase, w.started_at, n.attempts, n.last_error,
     CASE WHEN n.last_error IS NOT NULL THEN coalesce(n.checked_at, n.first_tried_at) END AS failing_since, n.failure_code,
     ${retriedAt(sql`n.id, n.withdrawal_id`)} AS retried_at, n.progress_done, n.progress_total, ${WAIVED}, n.absent_at, ${stateColumns(sql`n`)},
     coalesce(a.disabled_at IS NOT NULL, false) AS is_app_disabled, coalesce(a.endpoint IS NULL, false) AS polls,
     coalesce(a.waive_reasons, '{}') AS waive_reasons`

// Open ones first, and those that fail before the others.
const readTasks = statement(
  'tasks-of-withdrawals',
  { withdrawalIds: text.list, maxRows: integer },
  TASK,
  (v) => sql`SELECT ${SELECTED}
   FROM deletion_tasks n JOIN withdrawals w ON w.id = n.withdrawal_id LEFT JOIN connected_apps a ON a.id = n.app_id
   WHERE n.withdrawal_id = ANY(${v.withdrawalIds}::text[])
   ORDER BY n.status = 'completed', n.last_error IS NULL, n.app_name, n.id LIMIT ${v.maxRows}`,
)

/** Reads each application's open tasks by the partial index. */
const openTasks = (isListed: Part, maxRows: Part) =>
  sql`SELECT ${SELECTED}
   FROM connected_apps a
   CROSS JOIN LATERAL (${fenced(
     sql`SELECT * FROM deletion_tasks o WHERE o.app_id = a.id AND ${isOpenTask(sql`o`)} AND ${isListed} ORDER BY o.due_at LIMIT ${maxRows}`,
   )}) n
   JOIN withdrawals w ON w.id = n.withdrawal_id`

const readOpen = statement(
  'open-tasks',
  { appId: text.orNull, maxRows: integer },
  TASK,
  (v) => sql`${openTasks(sql`(${v.appId}::text IS NULL OR o.app_id = ${v.appId})`, v.maxRows)}
   ORDER BY n.due_at, n.id LIMIT ${v.maxRows}`,
)
const readOldest = statement(
  'oldest-open-tasks',
  { now: time, maxRows: integer },
  TASK,
  (v) => sql`${openTasks(
    sql`(o.due_at <= ${v.now} OR o.checked_at IS NOT NULL OR CASE WHEN o.completed_at IS NULL
       THEN o.first_tried_at IS NOT NULL ELSE ${isPresent(sql`o`)} END)`,
    v.maxRows,
  )}
   ORDER BY w.started_at, n.id LIMIT ${v.maxRows}`,
)

// The tasks of a withdrawal are deleted with what is kept of it.
const readEnded = statement(
  'ended-tasks-of-app',
  { appId: text, maxWithdrawals: integer, maxRows: integer },
  TASK,
  (v) => sql`SELECT ${SELECTED}
   FROM (SELECT id, started_at FROM withdrawals WHERE purged_at IS NULL ORDER BY purge_due_at DESC LIMIT ${v.maxWithdrawals}) w
   JOIN deletion_tasks n ON n.withdrawal_id = w.id AND n.app_id = ${v.appId} LEFT JOIN connected_apps a ON a.id = n.app_id
   WHERE n.status = 'completed' ORDER BY coalesce(n.waived_at, n.absent_at, n.completed_at) DESC, n.id LIMIT ${v.maxRows}`,
)

/** The newest withdrawals among which the tasks of one application are looked for. */
export const MAX_LOOKED_AT = 500

/** The tasks of an application that were done or waived last, the latest first. */
export async function endedTasksOf(ctx: SystemContext, appId: string, maxRows: number): Promise<ShownTask[]> {
  const now = ctx.clock.now()
  const rows = await ctx.sql(readEnded, { appId, maxWithdrawals: MAX_LOOKED_AT, maxRows })
  return rows.map((row) => toTask(row, now))
}

/** Those of each withdrawal that are open come first; at most `maxRows`. Nothing here is personal. */
export async function tasksOf(ctx: SystemContext, withdrawalIds: string[], maxRows: number): Promise<ShownTask[]> {
  const now = ctx.clock.now()
  return (await ctx.sql(readTasks, { withdrawalIds, maxRows })).map((row) => toTask(row, now))
}

interface TasksWanted {
  withdrawalId?: string | undefined
  appId?: string | undefined
  limit?: number
}

/** For operators: all tasks of one withdrawal, or the open tasks of all in due order. */
export async function listTasks(
  ctx: SystemContext,
  { withdrawalId, appId, limit = MAX_LISTED }: TasksWanted,
): Promise<{ tasks: ShownTask[]; is_cut: boolean }> {
  const now = ctx.clock.now()
  const tasks =
    withdrawalId === undefined
      ? (await ctx.sql(readOpen, { appId: appId ?? null, maxRows: limit + 1 })).map((row) => toTask(row, now))
      : (await tasksOf(ctx, [withdrawalId], limit + 1)).filter((task) => appId === undefined || task.app_id === appId)
  return { tasks: tasks.slice(0, limit), is_cut: tasks.length > limit }
}

const countOpen = statement(
  'count-open-tasks',
  { now: time },
  { state: text.of<TaskState>(), count: integer },
  (v) => sql`SELECT state, count(*)::int AS count FROM (
     SELECT ${openTaskState(v)} AS state FROM deletion_tasks n WHERE ${isOpenTask(sql`n`)}
   ) tasks GROUP BY state`,
)

/** For operators: the open tasks in numbers, and those that were tried or are due, of the oldest withdrawal first. */
export async function watchTasks(ctx: SystemContext) {
  const now = ctx.clock.now()
  const [counted, rows] = await Promise.all([
    ctx.sql(countOpen, { now }),
    ctx.sql(readOldest, { now, maxRows: MAX_SHOWN + 1 }),
  ])
  const states = TASK_STATES.filter((state) => state !== 'completed' && state !== 'waived')
  return {
    counts: states.map((state) => ({ state, count: counted.find((row) => row.state === state)?.count ?? 0 })),
    tasks: rows.slice(0, MAX_SHOWN).map((row) => toTask(row, now)),
    is_cut: rows.length > MAX_SHOWN,
  }
}

/** Nothing is sent for the task until somebody changes the application, or decides. */
const isHeld = ({ is_app_disabled, polls }: TaskRow, state: TaskState) =>
  is_app_disabled || state === 'present' || (state === 'unconfirmed' && polls)

/** A good answer ends what failed before it, and is followed by no attempt that the retry asked for. */
const failedAgain = ({ failing_since: since, retried_at: at, due_at }: TaskRow) =>
  since && at && since < at && due_at && due_at > at ? at : null

const toTask = (row: TaskRow, now: Date, state = taskStateOf(row, now)): ShownTask => ({
  task_id: row.id,
  withdrawal_id: row.withdrawal_id,
  app_id: row.app_id,
  name: row.app_name,
  phase: row.phase,
  state,
  is_app_disabled: row.is_app_disabled,
  polls: row.polls,
  started_at: row.started_at.toISOString(),
  attempts: row.attempts,
  due_at: isHeld(row, state) ? null : (row.due_at?.toISOString() ?? null),
  accepted_at: row.accepted_at?.toISOString() ?? null,
  progress:
    row.progress_done === null || row.progress_total === null
      ? null
      : { done: row.progress_done, total: row.progress_total },
  last_error: row.last_error,
  failing_since: row.failing_since?.toISOString() ?? null,
  retried_at: failedAgain(row)?.toISOString() ?? null,
  failure_code: row.failure_code,
  completed_at: row.completed_at?.toISOString() ?? null,
  times_present: row.times_present,
  absent_at: row.absent_at?.toISOString() ?? null,
  waived:
    row.waived_at && row.waived_reason
      ? describeWaiver(row.waived_reason, row.waived_sentence, row.waived_at.toISOString())
      : null,
  waive_reasons: row.waive_reasons,
})
