import { setTimeout as sleep } from 'node:timers/promises'
import { beginDueDeliveries } from '@/domain/applications/deliveries'
import { registerApp } from '@/domain/applications/manage'
import { type Bench, print, rounded, secondsOf } from './harness'

/** So many events wait for one fast application and are delivered. */
export async function measureApplications({ ctx, db, application }: Bench, events: number) {
  const { appId } = await registerApp(ctx, { name: 'Fast', endpoint: application.endpoint, audience: 'everyone' })
  await db.query(
    `WITH written AS (
       INSERT INTO events (id, type, user_id, data, version, occurred_at)
       SELECT 'evt_' || n, 'account.email_changed', 'usr_' || n, '{}', 1, now() FROM generate_series(1, $1::int) n RETURNING id
     )
     INSERT INTO event_deliveries (id, event_id, app_id, subject, status, due_at, created_at)
     SELECT 'dlv_' || id, id, $2, 'customer-' || id, 'pending', now(), now() FROM written`,
    [events, appId],
  )
  await db.query('ANALYZE')
  const seconds = await secondsOf(async () => {
    await beginDueDeliveries(ctx)
    while ((await ctx.db.eventDelivery.count({ where: { dueAt: { not: null } } })) > 0) await sleep(20)
  })
  print('Delivered', { events, seconds: rounded(seconds), perSecond: Math.round(events / seconds) })
}
