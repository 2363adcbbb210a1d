import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { waiveTask as waiveContract } from '@/contract/tasks'
import type { WaiveReason } from '@/contract/vocabulary'
import type { Context, SystemContext } from '../context'
import { audit, OPERATOR_COMMAND_ID, sql, statement, text, time } from '../sql'
import { lockTask, wakeStep } from './open-tasks'

const markWaived = statement(
  'waive-task',
  { id: text, reason: text.of<WaiveReason>(), now: time, auditId: text, by: text, actor: text, actorId: text.orNull },
  {},
  (v) => sql`WITH waived AS (
     UPDATE app_notifications
     SET status = 'completed', waived_at = ${v.now}, waived_reason = ${v.reason}, due_at = NULL, lease_until = NULL, subject = NULL,
         sealed_subject = NULL, sealed_account = NULL
     WHERE id = ${v.id} RETURNING id
   )
   ${audit('task.waived', { from: sql`waived`, id: v.auditId, user: v.by, actor: v.actor, actorId: v.actorId, subject: sql`id`, at: v.now })}`,
)

/** The operator's command, an operator at the page, or a service. */
type Waiver = { kind: 'operator'; id: string } | { kind: 'service'; id: string }

const OPERATOR: Waiver = { kind: 'operator', id: OPERATOR_COMMAND_ID }

/**
 * Nobody waits for the task any more, and the application may still have its data: the person reads that, and why. Final. The next
 * sweep ends the step if nothing else keeps it open. The audit row belongs to the waiver, because no new row may refer to the user
 * who is being erased.
 */
export async function waive(
  ctx: SystemContext,
  { taskId, reason }: { taskId: string; reason: WaiveReason },
  waiver: Waiver = OPERATOR,
): Promise<Data<typeof waiveContract>> {
  const at = await ctx.transaction(async (sql) => {
    const task = await lockTask(sql, taskId)
    if (!task) throw new AppError('TASK_001', 'There is no deletion task with this id.')
    if (task.waived_at && task.waived_reason === reason) return task.waived_at
    if (task.status === 'completed') throw new AppError('TASK_002')
    const now = ctx.clock.now()
    const [auditId, actorId] = [ctx.secrets.randomId('aud_'), waiver.kind === 'service' ? waiver.id : null]
    await sql(markWaived, { id: taskId, reason, now, auditId, by: waiver.id, actor: waiver.kind, actorId })
    await wakeStep(ctx, sql, { withdrawalId: task.withdrawal_id, step: task.phase })
    return now
  })
  return { task_id: taskId, status: 'waived', waived: { reason, at: at.toISOString() } }
}

/** For services. */
export const waiveTask = (ctx: Context, input: Input<typeof waiveContract>): Promise<Data<typeof waiveContract>> =>
  waive(ctx, input, { kind: 'service', id: ctx.actor.id })

const markDue = statement(
  'retry-task',
  { id: text, now: time, auditId: text, by: text },
  {},
  (v) => sql`WITH retried AS (
     UPDATE app_notifications SET due_at = ${v.now}, accepted_at = NULL WHERE id = ${v.id} RETURNING id
   )
   ${audit('task.retried', { from: sql`retried`, id: v.auditId, user: v.by, actor: sql`'operator'`, subject: sql`id`, at: v.now })}`,
)

/** Makes the task due now, whatever the application has reported. A task whose phase has not begun keeps its time. */
export async function retryTask(ctx: SystemContext, taskId: string, operatorId: string): Promise<void> {
  await ctx.transaction(async (sql) => {
    const task = await lockTask(sql, taskId)
    if (!task) throw new AppError('TASK_001', 'There is no deletion task with this id.')
    if (task.status === 'completed') throw new AppError('TASK_002')
    if (task.attempts === 0) return
    await sql(markDue, { id: taskId, now: ctx.clock.now(), auditId: ctx.secrets.randomId('aud_'), by: operatorId })
    await wakeStep(ctx, sql, { withdrawalId: task.withdrawal_id, step: task.phase })
  })
}
