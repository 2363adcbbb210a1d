import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type * as contract from '@/contract/tasks'
import { partsOfReason, WAIVE_REASONS } from '@/contract/vocabulary'
import { auditManager, type ManagerContext } from '../manager'
import { NULL, sql, statement, text, time } from '../sql'
import { release } from '../work/queue'
import { lockTask, wakeStep } from './open-tasks'
import { describeWaiver, OPENS_IF_PRESENT } from './task-states'

const markWaived = statement(
  'waive-task',
  { id: text, reason: text, code: text.orNull, sentence: text.orNull, now: time },
  {},
  (v) => sql`UPDATE deletion_tasks
   SET status = 'completed', waived_at = ${v.now}, waived_reason = ${v.reason}, waived_code = ${v.code}, waived_sentence = ${v.sentence},
       ${release(NULL)}, completed_at = NULL, subject = NULL, sealed_subject = NULL, sealed_account = NULL
   WHERE id = ${v.id}`,
)

// An app that has no open task any more would look as if it worked.
const noteFailure = statement(
  'note-waived-app',
  { appId: text, error: text, now: time },
  {},
  (v) => sql`UPDATE connected_apps SET waived_at = ${v.now}, waived_error = ${v.error} WHERE id = ${v.appId}`,
)

/**
 * Nobody waits for the task any more, and the application may still have its data: the person reads that, and why. Final. The next
 * sweep ends the step if nothing else keeps it open.
 */
export async function waiveTask(
  ctx: ManagerContext,
  { taskId, reason }: Input<typeof contract.waiveTask>,
): Promise<Data<typeof contract.waiveTask>> {
  const { at, sentence } = await ctx.transaction(async (tx) => {
    const task = await lockTask(tx, taskId)
    if (!task) throw unknownTask()
    if (task.waived_at && task.waived_reason === reason) return { at: task.waived_at, sentence: task.waived_sentence }
    if (task.status === 'completed') throw new AppError('TASK_002')
    const sentence = sentenceOf(task.waive_reasons, reason)
    const now = tx.clock.now()
    await Promise.all([
      tx.sql(markWaived, { id: taskId, ...storedReason(reason, sentence), now }),
      task.last_error !== null && tx.sql(noteFailure, { appId: task.app_id, error: task.last_error, now }),
      auditManager(tx, 'task.waived', taskId),
      wakeStep(tx, { withdrawalId: task.withdrawal_id, step: task.phase }),
    ])
    return { at: now, sentence }
  })
  return { task_id: taskId, status: 'waived', waived: describeWaiver(reason, sentence, at.toISOString()) }
}

// An instance of the last release knows no reasons of applications, and shows them as this one.
const storedReason = (reason: string, sentence: string | null) =>
  sentence === null ? { reason, code: null, sentence } : { reason: 'other', code: reason, sentence }

/** What the person reads of a reason of this application; null for one that all share. Refuses any other. */
export function sentenceOf(registered: readonly string[], reason: string): string | null {
  if (WAIVE_REASONS.some((known) => known === reason)) return null
  const own = registered.map(partsOfReason)
  const found = own.find(({ code }) => code === reason)
  if (found) return found.sentence
  const codes = [...WAIVE_REASONS, ...own.map(({ code }) => code)]
  throw new AppError(
    'REQUEST_001',
    `The reason must be one of ${codes.join(', ')}. For any other, say what the person reads: app set app_… --waive-reason CODE=SENTENCE, then waive with that code.`,
  )
}

export const unknownTask = () => new AppError('TASK_001', 'There is no deletion task with this ID.')

const markDue = statement(
  'retry-task',
  { id: text, now: time },
  {},
  (v) =>
    sql`UPDATE deletion_tasks n SET due_at = ${v.now}, accepted_at = NULL, ${OPENS_IF_PRESENT} WHERE n.id = ${v.id}`,
)

/**
 * Makes the task or its absence check due now, whatever the application has reported. If it answered again and again that it has the
 * person, it is told once more. What was not tried yet keeps its time.
 */
export const retryTask = (
  ctx: ManagerContext,
  { taskId }: Input<typeof contract.retryTask>,
): Promise<Data<typeof contract.retryTask>> =>
  ctx.transaction(async (tx) => {
    const task = await lockTask(tx, taskId)
    if (!task) throw unknownTask()
    if (task.status === 'completed') throw new AppError('TASK_002')
    const retried = task.attempts > 0
    if (retried) {
      await Promise.all([
        tx.sql(markDue, { id: taskId, now: tx.clock.now() }),
        auditManager(tx, 'task.retried', taskId),
        wakeStep(tx, { withdrawalId: task.withdrawal_id, step: task.phase }),
      ])
    }
    return { task_id: taskId, retried }
  })
