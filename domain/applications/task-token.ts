import { AppError } from '@/contract/errors'
import type { Actor, SystemContext } from '../context'
import { MAC_TEXT } from '../ports'

/** Whether a good answer ends a task, or a report may do so later. */
export type Acknowledges = 'at_once' | 'later'

const REPORT_TOKEN = new RegExp(`^dtk_(${MAC_TEXT})$`)

/** Where the reports of a task go, and the token for it: derived from the id of the task, and stored nowhere. */
export const reportPlaceOf = (ctx: SystemContext, taskId: string) => ({
  report_to: `${ctx.appUrl}/api/v1/tasks/${taskId}`,
  report_token: `dtk_${ctx.secrets.mac('task-report', taskId).toString('base64url')}`,
})

export function isReportTokenOf(ctx: SystemContext, token: string, taskId: string): boolean {
  const mac = REPORT_TOKEN.exec(token)?.[1]
  return mac !== undefined && ctx.secrets.macMatches('task-report', taskId, Buffer.from(mac, 'base64url'))
}

/** Whoever shows the token of the task in the path acts for that task; unknown tasks and all other tokens are answered alike. */
export function authenticateReport(ctx: SystemContext, authorization: string, taskId: string): Actor {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (token === undefined) throw new AppError('AUTH_001')
  if (!isReportTokenOf(ctx, token, taskId)) throw new AppError('TASK_001')
  return {
    kind: 'report_token',
    id: taskId,
    userId: '',
    externalId: null,
    scopes: [],
    user: { name: '', email: '', emailVerifiedAt: null, locale: null },
    pendingChange: null,
  }
}
