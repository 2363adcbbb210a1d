import type { Data, Input } from '@/contract/define'
import type { cancelEmailChange as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { addAudit } from '../audit'
import type { Context } from '../context'
import { requireOpenChange } from '../pending-change'
import { sql, statement, text, time } from '../sql'

const cancel = statement(
  'cancel-email-change',
  { changeId: text, userId: text, now: time, ip: text },
  { id: text },
  (v) => sql`UPDATE email_change_requests SET status = 'cancelled', closed_at = ${v.now}, closed_ip = ${v.ip}
   WHERE id = ${v.changeId} AND user_id = ${v.userId} AND status = 'pending_verification'
   RETURNING id`,
)

export async function cancelEmailChange(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const change = requireOpenChange(ctx, input.changeRequestId)
  const { userId, kind: actor } = ctx.actor
  const { ip } = ctx
  await ctx.transaction(async (tx) => {
    const at = tx.clock.now()
    const [cancelled] = await tx.sql(cancel, { changeId: change.id, userId, now: at, ip })
    if (!cancelled) throw new AppError('EMAIL_006')
    await addAudit(tx, 'email_change.cancelled', { userId, actor, ip, subject: change.id, at })
  })
  return { change_request_id: change.id, status: 'cancelled' }
}
