import { type OpenTask, TASK_STATES, type TaskState } from '@/contract/tasks'
import type { SystemContext } from '../context'
import { boolean, fenced, integer, sql, statement, text, time } from '../sql'
import { IS_OPEN, STATE_COLUMNS, TASK_COLUMNS, taskStateOf } from './task-states'

interface TaskWatch {
  counts: { state: TaskState; count: number }[]
  /** Open tasks that were tried or are due, those of the oldest withdrawal first. */
  open: OpenTask[]
  /** There are more open tasks than `open` has. */
  isCut: boolean
}

const MAX_SHOWN = 50

const countOpen = statement(
  'count-open-tasks',
  { now: time },
  { state: text.of<TaskState>(), count: integer },
  (v) => sql`SELECT state, count(*)::int AS count FROM (
     SELECT CASE WHEN lease_until > ${v.now} THEN 'calling' WHEN accepted_at IS NOT NULL AND due_at > ${v.now} THEN 'accepted'
                 ELSE 'pending' END AS state
     FROM app_notifications n WHERE ${IS_OPEN(sql`n`)}
   ) tasks GROUP BY state`,
)

const readOldest = statement(
  'oldest-open-tasks',
  { now: time, maxRows: integer },
  {
    ...TASK_COLUMNS,
    id: text,
    withdrawal_id: text,
    app_name: text,
    phase: text,
    is_app_disabled: boolean,
    polls: boolean,
    started_at: time,
    progress_done: integer.orNull,
    progress_total: integer.orNull,
    attempts: integer,
    last_error: text.orNull,
    failure_code: text.orNull,
    due_at: time,
  },
  (
    v,
  ) => sql`SELECT n.id, n.withdrawal_id, n.app_name, n.phase, a.disabled_at IS NOT NULL AS is_app_disabled, a.endpoint IS NULL AS polls,
     w.started_at, n.progress_done, n.progress_total, n.attempts, n.last_error, n.failure_code, ${STATE_COLUMNS(sql`n`)}
   FROM connected_apps a
   CROSS JOIN LATERAL (${fenced(
     sql`SELECT * FROM app_notifications o WHERE o.app_id = a.id AND ${IS_OPEN(sql`o`)} AND (o.first_tried_at IS NOT NULL OR o.due_at <= ${v.now})
      ORDER BY o.due_at LIMIT ${v.maxRows}`,
   )}) n
   JOIN withdrawals w ON w.id = n.withdrawal_id
   ORDER BY w.started_at, n.id LIMIT ${v.maxRows}`,
)

/** For the operator: ids, states, times and errors, no personal data. */
export async function watchTasks(ctx: SystemContext): Promise<TaskWatch> {
  const now = ctx.clock.now()
  const [counted, rows] = await Promise.all([
    ctx.sql(countOpen, { now }),
    ctx.sql(readOldest, { now, maxRows: MAX_SHOWN + 1 }),
  ])
  const states = TASK_STATES.filter((state) => state !== 'completed' && state !== 'waived')
  return {
    counts: states.map((state) => ({ state, count: counted.find((row) => row.state === state)?.count ?? 0 })),
    open: rows.slice(0, MAX_SHOWN).map((row) => ({
      id: row.id,
      withdrawalId: row.withdrawal_id,
      appName: row.app_name,
      phase: row.phase,
      state: taskStateOf(row, now),
      isAppDisabled: row.is_app_disabled,
      polls: row.polls,
      startedAt: row.started_at,
      progress:
        row.progress_done === null || row.progress_total === null
          ? null
          : { done: row.progress_done, total: row.progress_total },
      attempts: row.attempts,
      lastError: row.last_error,
      failureCode: row.failure_code,
      dueAt: row.due_at,
    })),
    isCut: rows.length > MAX_SHOWN,
  }
}
