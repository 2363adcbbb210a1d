import { AppError } from '@/contract/errors'
import { type Actor, NO_ACCOUNT, type SystemContext } from '../context'
import { MAC_TEXT } from '../ports'

/** Whether a good answer always ends a task, or the application may accept it and report later. */
export type Acknowledges = 'at_once' | 'later'

const REPORT_TOKEN = new RegExp(`^dtk_(${MAC_TEXT})$`)

/** The URL for reports on a task, and the token for it, which is derived from the task's id and stored nowhere. */
export const reportPlaceOf = (ctx: SystemContext, taskId: string) => ({
  report_to: `${ctx.appUrl}/api/v1/tasks/${taskId}`,
  report_token: `dtk_${ctx.secrets.mac('task-report', taskId).toString('base64url')}`,
})

/** A task's token acts for that task. An unknown task and a wrong token get the same answer. */
export function authenticateReport(ctx: SystemContext, token: string, taskId: string): Actor {
  const [, mac = ''] = REPORT_TOKEN.exec(token) ?? []
  if (!ctx.secrets.macMatches('task-report', taskId, Buffer.from(mac, 'base64url'))) throw new AppError('TASK_001')
  return { ...NO_ACCOUNT, kind: 'report_token', id: taskId, scopes: [] }
}
