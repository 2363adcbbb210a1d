import type { Data, Input } from '@/contract/define'
import type { cancelEmailChange as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import type { Context } from '../context'
import { requireOpenChange } from '../pending-change'
import { audit, sql, statement, text, time } from '../sql'

const cancel = statement(
  'cancel-email-change',
  { changeId: text, userId: text, now: time, ip: text, auditId: text, actorKind: text },
  { id: text },
  (v) => sql`WITH request AS (
     UPDATE email_change_requests SET status = 'cancelled', closed_at = ${v.now}, closed_ip = ${v.ip}
     WHERE id = ${v.changeId} AND user_id = ${v.userId} AND status = 'pending_verification'
     RETURNING id, user_id
   )
   ${audit('email_change.cancelled', { from: sql`request`, id: v.auditId, user: sql`user_id`, actor: v.actorKind, subject: sql`id`, ip: v.ip, at: v.now })}
   RETURNING id`,
)

export async function cancelEmailChange(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const change = requireOpenChange(ctx, input.changeRequestId)
  const rows = await ctx.sql(cancel, {
    changeId: change.id,
    userId: ctx.actor.userId,
    now: ctx.clock.now(),
    ip: ctx.ip,
    auditId: ctx.secrets.randomId('aud_'),
    actorKind: ctx.actor.kind,
  })
  if (rows.length === 0) throw new AppError('EMAIL_006')
  return { change_request_id: change.id, status: 'cancelled' }
}
