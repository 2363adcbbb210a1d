import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { reportOnTask as contract } from '@/contract/tasks'
import { endTask, type TasksOfStep } from '../applications/deliver'
import { type LockedTask, lockTask, wakeStep } from '../applications/open-tasks'
import { nextCallAt, noteGoodAnswer } from '../applications/webhook'
import type { Context, Transaction } from '../context'
import { takePlaces } from '../limits/buckets'
import { second } from '../limits/durations'
import { integer, type Part, sql, statement, text, time } from '../sql'
import { release } from '../work/queue'
import { runDeletionStep } from './run-deletion-step'

type Report = Input<typeof contract>

const SAID = {
  id: text,
  now: time,
  done: integer.orNull,
  total: integer.orNull,
  records: integer.orNull,
  retained: text.orNull,
}

const noteSaid = (v: { done: Part; total: Part; records: Part; retained: Part }) =>
  sql`progress_done = coalesce(${v.done}::int, progress_done), progress_total = coalesce(${v.total}::int, progress_total),
     records = coalesce(${v.records}::int, records), retained = coalesce(${v.retained}::jsonb, retained)`

const noteProcessing = statement(
  'note-task-processing',
  { ...SAID, reportBy: time },
  {},
  (v) => sql`UPDATE deletion_tasks SET status = 'processing', accepted_at = coalesce(accepted_at, ${v.now}),
     ${release(v.reportBy)}, last_error = NULL, ${noteSaid(v)}
   WHERE id = ${v.id}`,
)
const noteLast = statement(
  'note-task-result',
  SAID,
  {},
  (v) =>
    sql`UPDATE deletion_tasks SET accepted_at = coalesce(accepted_at, ${v.now}), ${noteSaid(v)} WHERE id = ${v.id}`,
)
const noteFailed = statement(
  'note-task-failed',
  { id: text, nextTryAt: time, code: text.orNull },
  {},
  (v) => sql`UPDATE deletion_tasks SET status = 'processing', accepted_at = NULL, ${release(v.nextTryAt)},
     last_error = 'reported_failed', failure_code = ${v.code}, progress_done = NULL,
     progress_total = NULL, records = NULL, retained = NULL
   WHERE id = ${v.id}`,
)

/** Stores what an application reports on its task. Any open task takes a report. */
export async function reportOnTask(ctx: Context, report: Report): Promise<Data<typeof contract>> {
  const { taskId } = report
  const name = contract.limit.bucket
  const bucket = { ...ctx.limits[name], name, key: `${name}:${taskId}`, userId: null }
  await takePlaces(ctx, { take: [bucket] })
  const { tasks, state } = await ctx.transaction((tx) => note(tx, report))
  if (state === 'ending') {
    await endTask(ctx, tasks.withdrawalId, taskId, null)
    await ctx.transaction(async (tx) => {
      await lockTask(tx, taskId)
      await wakeStep(tx, tasks)
    })
    ctx.background(() => runDeletionStep(ctx, tasks))
  }
  return { task_id: taskId, status: state === 'ending' ? 'completed' : state }
}

interface Noted {
  tasks: TasksOfStep
  state: 'accepted' | 'pending' | 'completed' | 'ending'
}

async function note(tx: Transaction, report: Report): Promise<Noted> {
  const task = await lockTask(tx, report.taskId)
  if (!task) throw new AppError('TASK_001')
  const tasks = { withdrawalId: task.withdrawal_id, step: task.phase }
  if (task.status === 'completed' || task.completed_at) {
    if (task.waived_at || report.status !== 'completed') throw new AppError('TASK_002')
    return { tasks, state: 'completed' }
  }
  refuseUnregistered(task, report)
  const now = tx.clock.now()
  if (report.status === 'failed') {
    const nextTryAt = nextCallAt(tx, task.attempts, { status: 0 })
    await tx.sql(noteFailed, { id: report.taskId, nextTryAt, code: report.code ?? null })
    await wakeStep(tx, tasks)
    return { tasks, state: 'pending' }
  }
  const { done } = report.progress ?? {}
  const isBack = done !== undefined && done < (task.progress_done ?? 0)
  if (report.status === 'completed') {
    // Its count must not keep a deletion open that is done. The one before stays.
    await noteGoodAnswer(tx, task)
    await tx.sql(noteLast, { ...said(isBack ? { ...report, progress: undefined } : report), now })
    return { tasks, state: 'ending' }
  }
  if (isBack) throw new AppError('REQUEST_001', `progress.done must not go back: it was ${task.progress_done}.`)
  const reportBy = new Date(now.getTime() + task.acknowledge_within_s * second)
  await tx.sql(noteProcessing, { ...said(report), now, reportBy })
  return { tasks, state: 'accepted' }
}

const said = ({ taskId, progress, records, retained }: Report) => ({
  id: taskId,
  done: progress?.done ?? null,
  total: progress?.total ?? null,
  records: records ?? null,
  retained: retained ? JSON.stringify(retained) : null,
})

/** Accepts only categories and reasons from the operator's lists, because the person reads them. */
function refuseUnregistered({ categories, reasons }: LockedTask, { retained = [] }: Report): void {
  for (const [index, { category, reason }] of retained.entries()) {
    const [what, registered] = categories.includes(category)
      ? ['reason', reasons.includes(reason)]
      : ['category', false]
    if (!registered) {
      throw new AppError('REQUEST_001', `retained.${index}.${what} is not registered for the application.`)
    }
  }
}
