import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from '../context'

/** What the operator sees of a withdrawal: states, times and errors, no personal data. */
export async function showWithdrawal(ctx: SystemContext, withdrawalId: string): Promise<object> {
  const withdrawal = await ctx.db.withdrawal.findUnique({
    where: { id: withdrawalId },
    omit: { userId: true, feedback: true },
    include: {
      steps: { omit: { withdrawalId: true }, orderBy: { estimatedCompletion: 'asc' } },
      notifications: { omit: { withdrawalId: true, subject: true }, orderBy: { appName: 'asc' } },
    },
  })
  if (!withdrawal) throw new AppError('WITHDRAWAL_004')
  const { id, completedAt, steps, notifications, ...rest } = withdrawal
  return {
    withdrawal_id: id,
    status: completedAt ? 'completed' : 'processing',
    completedAt,
    ...rest,
    steps,
    notifications,
  }
}

const retryNotifications = statement(
  'retry-app-notifications',
  `UPDATE app_notifications SET due_at = $2 WHERE withdrawal_id = $1 AND status <> 'completed' AND attempts > 0`,
)
const retrySteps = statement(
  'retry-deletion-steps',
  `UPDATE deletion_steps SET due_at = $2 WHERE withdrawal_id = $1 AND status <> 'completed' AND attempts > 0
   RETURNING step`,
)

/** Makes what has failed due now; what has not begun keeps its time. Returns the steps that will run. */
export async function retryWithdrawal(ctx: SystemContext, withdrawalId: string): Promise<string[]> {
  const known = await ctx.db.withdrawal.count({ where: { id: withdrawalId } })
  if (known === 0) throw new AppError('WITHDRAWAL_004')
  const now = ctx.clock.now()
  await ctx.sql(retryNotifications, [withdrawalId, now])
  const rows = await ctx.sql<{ step: string }>(retrySteps, [withdrawalId, now])
  return rows.map(({ step }) => step)
}
