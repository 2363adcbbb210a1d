import type { Step } from '@/contract/withdrawal'
import type { AnyContext, SystemContext, Transaction } from '../context'
import { integer, type RowOf, sql, statement, text, time } from '../sql'
import { TASKS_OF_STEP, type TasksOfStep } from './deliver'
import { stateColumns, TASK_COLUMNS, WAIVED } from './task-states'

export type LockedTask = RowOf<typeof readTask>

// The withdrawal is locked first, as by everything that ends a task, a step or the retention.
const lockWithdrawal = statement(
  'lock-withdrawal-of-task',
  { id: text },
  {},
  (v) =>
    sql`SELECT FROM withdrawals WHERE id = (SELECT withdrawal_id FROM deletion_tasks WHERE id = ${v.id}) FOR UPDATE`,
)
const readTask = statement(
  'lock-task',
  { id: text },
  {
    ...TASK_COLUMNS,
    withdrawal_id: text,
    app_id: text,
    phase: text.of<Step>(),
    attempts: integer,
    last_error: text.orNull,
    progress_done: integer.orNull,
    waived_reason: text.orNull,
    waived_sentence: text.orNull,
    waive_reasons: text.list,
    categories: text.list,
    reasons: text.list,
    acknowledge_within_s: integer,
    app_waived_at: time.orNull,
  },
  (v) => sql`SELECT n.withdrawal_id, n.app_id, n.phase, n.attempts, n.last_error, n.progress_done, ${WAIVED},
     ${stateColumns(sql`n`)}, a.waive_reasons, a.categories, a.reasons, a.acknowledge_within_s, a.waived_at AS app_waived_at
   FROM deletion_tasks n JOIN connected_apps a ON a.id = n.app_id WHERE n.id = ${v.id} FOR UPDATE OF n`,
)

/** Locks the withdrawal and then the task; null if there is no such task. */
export async function lockTask(tx: Transaction, id: string): Promise<LockedTask | null> {
  await tx.sql(lockWithdrawal, { id })
  const [task] = await tx.sql(readTask, { id })
  return task ?? null
}

// A step that has not begun keeps its time.
const bringForward = statement(
  'bring-step-forward',
  { ...TASKS_OF_STEP, now: time },
  {},
  (v) => sql`UPDATE deletion_steps SET due_at = least(due_at, ${v.now})
   WHERE withdrawal_id = ${v.withdrawalId} AND step = ${v.step} AND status <> 'completed' AND (attempts > 0 OR erased_at IS NOT NULL)`,
)

/** Makes the step of a changed task due now: its run finds what is left, and forgets the error of a task that nobody waits for. */
export const wakeStep = (tx: Transaction, tasks: TasksOfStep): Promise<unknown> =>
  tx.sql(bringForward, { ...tasks, now: tx.clock.now() })

const openTasks = statement(
  'open-tasks-of-app',
  { appId: text, after: text, maxRows: integer },
  { id: text },
  (v) => sql`SELECT id FROM deletion_tasks WHERE app_id = ${v.appId} AND due_at IS NOT NULL AND id > ${v.after}
   ORDER BY id LIMIT ${v.maxRows}`,
)

const BATCH_SIZE = 5_000

/** In the order of their ids, those after `after`. */
export const openTasksOf = ({ sql }: AnyContext, appId: string, { after = '', maxRows = BATCH_SIZE } = {}) =>
  sql(openTasks, { appId, after, maxRows })

/** Makes the waiting steps due now instead of at their next periodic check. */
export async function wakeStepsOf(ctx: SystemContext, appId: string): Promise<void> {
  let tasks = await openTasksOf(ctx, appId)
  for (; tasks.length > 0; tasks = await openTasksOf(ctx, appId, { after: tasks.at(-1)?.id ?? '' })) {
    for (const { id } of tasks) await ctx.transaction((tx) => wakeStepOf(tx, id))
  }
}

async function wakeStepOf(tx: Transaction, id: string): Promise<void> {
  const task = await lockTask(tx, id)
  if (task && task.status !== 'completed') await wakeStep(tx, { withdrawalId: task.withdrawal_id, step: task.phase })
}
