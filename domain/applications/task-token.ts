import { AppError } from '@/contract/errors'
import { type Actor, NO_ACCOUNT, type SystemContext } from '../context'
import { derivedToken } from '../derived-token'

/** Whether a good answer always ends a task, or the application may accept it and report later. */
export type Acknowledges = 'at_once' | 'later'

const reportToken = derivedToken('dtk_', 'task-report')

/** The URL for reports on a task, and the token for it. */
export const reportPlaceOf = (ctx: SystemContext, taskId: string) => ({
  report_to: `${ctx.appUrl}/api/v1/tasks/${taskId}`,
  report_token: reportToken.create(ctx, taskId),
})

/** A task's token acts for that task. An unknown task and a wrong token get the same answer. */
export function authenticateReport(ctx: SystemContext, token: string, taskId: string): Actor {
  if (!reportToken.isOf(ctx, token, taskId)) throw new AppError('TASK_001')
  return { ...NO_ACCOUNT, kind: 'report_token', id: taskId, scopes: [] }
}
