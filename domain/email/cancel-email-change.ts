import type { Data, Input } from '@/contract/define'
import type { cancelEmailChange as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { type Context, statement } from '../context'
import { requireOpenChange } from './pending-change'

const cancel = statement(
  'cancel-email-change',
  `WITH request AS (
     UPDATE email_change_requests SET status = 'cancelled', closed_at = $3, closed_ip = $4
     WHERE id = $1 AND user_id = $2 AND status = 'pending_verification'
     RETURNING id, user_id
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
   SELECT $5, user_id, 'email_change.cancelled', $6, id, $4, $3 FROM request
   RETURNING id`,
)

export async function cancelEmailChange(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const change = requireOpenChange(ctx, input.changeRequestId)
  const rows = await ctx.sql(cancel, [
    change.id,
    ctx.actor.userId,
    ctx.clock.now(),
    ctx.ip,
    ctx.secrets.randomId('aud_'),
    ctx.actor.kind,
  ])
  if (rows.length === 0) throw new AppError('EMAIL_006')
  return { change_request_id: change.id, status: 'cancelled' }
}
