import type { endUserSessions as contract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { beginDueDeliveries } from '../applications/deliveries'
import { queueEvent } from '../applications/events'
import type { Context } from '../context'
import { lockForService } from '../lock-account'
import { noteIncident } from '../security-incidents'
import { audit, integer, sql, statement, text, time } from '../sql'
import { countOpen, endAccess } from './end-access'

const endAllAccess = statement(
  'end-all-access',
  { userId: text, now: time, auditId: text, eventId: text, serviceTokenId: text, ip: text },
  { sessions_ended: integer, tokens_ended: integer },
  (v) => sql`WITH ${endAccess({ user: v.userId, at: v.now, ends: ['sessions', 'tokens'] })},
   ${queueEvent('account.sessions_ended', { from: sql`account`, user: v.userId, id: v.eventId, at: v.now })}, audited AS (
     ${audit('access.all_ended', { from: sql`account`, id: v.auditId, user: sql`id`, actor: sql`'service'`, actorId: v.serviceTokenId, ip: v.ip, at: v.now })}
   )
   SELECT ${countOpen('ended_sessions')} AS sessions_ended, ${countOpen('ended_tokens')} AS tokens_ended`,
)

export async function endUserSessions(
  ctx: Context,
  { externalId }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  const data = await ctx.transaction(async (sql) => {
    const account = await lockForService(sql, { externalId })
    if (!account) throw new AppError('USER_001')
    const [ended] = await sql(endAllAccess, {
      userId: account.id,
      // Read the clock under the lock, so that a session started while this call waited ends too.
      now: ctx.clock.now(),
      auditId: ctx.secrets.randomId('aud_'),
      eventId: ctx.secrets.randomId('evt_'),
      serviceTokenId: ctx.actor.id,
      ip: ctx.ip,
    })
    await noteIncident(ctx, 'sessions_ended', { userId: account.id }, sql)
    return { user_id: account.id, sessions_ended: ended?.sessions_ended ?? 0, tokens_ended: ended?.tokens_ended ?? 0 }
  })
  ctx.background(() => beginDueDeliveries(ctx))
  return data
}
