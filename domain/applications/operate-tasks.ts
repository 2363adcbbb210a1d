import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type * as contract from '@/contract/tasks'
import type { WaiveReason } from '@/contract/vocabulary'
import type { Context, SystemContext } from '../context'
import { AUDITED, auditedBy, auditValues, type Manager, managerOf, OPERATOR_COMMAND } from '../manager'
import { literal, sql, statement, text } from '../sql'
import { lockTask, wakeStep } from './open-tasks'

const markWaived = statement(
  'waive-task',
  { ...AUDITED, id: text, reason: text.of<WaiveReason>() },
  {},
  (v) => sql`WITH waived AS (
     UPDATE deletion_tasks
     SET status = 'completed', waived_at = ${v.now}, waived_reason = ${v.reason}, due_at = NULL, lease_until = NULL, subject = NULL,
         sealed_subject = NULL, sealed_account = NULL
     WHERE id = ${v.id} RETURNING id
   )
   ${auditedBy(literal('task.waived'), sql`waived`, v)}`,
)

/**
 * Nobody waits for the task any more, and the application may still have its data: the person reads that, and why. Final. The next
 * sweep ends the step if nothing else keeps it open.
 */
export async function waive(
  ctx: SystemContext,
  { taskId, reason }: { taskId: string; reason: WaiveReason },
  by = OPERATOR_COMMAND,
): Promise<Data<typeof contract.waiveTask>> {
  const at = await ctx.transaction(async (sql) => {
    const task = await lockTask(sql, taskId)
    if (!task) throw new AppError('TASK_001', 'There is no deletion task with this id.')
    if (task.waived_at && task.waived_reason === reason) return task.waived_at
    if (task.status === 'completed') throw new AppError('TASK_002')
    const audited = auditValues(ctx, by)
    await sql(markWaived, { ...audited, id: taskId, reason })
    await wakeStep(ctx, sql, { withdrawalId: task.withdrawal_id, step: task.phase })
    return audited.now
  })
  return { task_id: taskId, status: 'waived', waived: { reason, at: at.toISOString() } }
}

/** Of the admin API. */
export const waiveTask = (ctx: Context, input: Input<typeof contract.waiveTask>) => waive(ctx, input, managerOf(ctx))

const markDue = statement(
  'retry-task',
  { ...AUDITED, id: text },
  {},
  (v) => sql`WITH retried AS (
     UPDATE deletion_tasks SET due_at = ${v.now}, accepted_at = NULL WHERE id = ${v.id} RETURNING id
   )
   ${auditedBy(literal('task.retried'), sql`retried`, v)}`,
)

/** Makes the task due now, whatever the application has reported. A task whose phase has not begun keeps its time. */
export async function retryTask(ctx: SystemContext, taskId: string, by: Manager): Promise<void> {
  await ctx.transaction(async (sql) => {
    const task = await lockTask(sql, taskId)
    if (!task) throw new AppError('TASK_001', 'There is no deletion task with this id.')
    if (task.status === 'completed') throw new AppError('TASK_002')
    if (task.attempts === 0) return
    await sql(markDue, { ...auditValues(ctx, by), id: taskId })
    await wakeStep(ctx, sql, { withdrawalId: task.withdrawal_id, step: task.phase })
  })
}

/** Of the admin API. */
export async function retryTaskOf(ctx: Context, { taskId }: Input<typeof contract.retryTask>) {
  await retryTask(ctx, taskId, managerOf(ctx))
  return { task_id: taskId }
}
