import { setTimeout as sleep } from 'node:timers/promises'
import type { EventType } from '@/contract/vocabulary'
import { beginDueDeliveries } from '@/domain/applications/deliveries'
import { registerApp, setApp } from '@/domain/applications/manage'
import type { SystemContext } from '@/domain/context'
import { changeEmail } from '@/domain/email/change-email'
import { verifyEmail } from '@/domain/email/verify-email'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { median } from '../services'
import { type Bench, givenCaller, PASSWORD, print, rounded, secondsOf } from './harness'

const ROUNDS = 12
const CALLS = 25

/**
 * So many events wait for one fast application and are delivered. Then people withdraw and change their address by turns with and
 * without applications that want to know: what these cost the calls, and when they are told.
 */
export async function measureApplications(bench: Bench, events: number) {
  await measureThroughput(bench, events)
  await compare(bench, 'withdraw', 20, ['account.withdrawal_started', 'account.withdrawal_completed'])
  await compare(bench, 'change and verify', 1, ['account.email_change_requested', 'account.email_changed'])
}

async function measureThroughput({ ctx, db, application }: Bench, events: number) {
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
  let calls = 0
  application.heard = () => calls++
  const seconds = await secondsOf(async () => {
    await beginDueDeliveries(ctx)
    await untilDelivered(ctx)
  })
  print('Delivered', { events, calls, seconds: rounded(seconds), perSecond: Math.round(events / seconds) })
  await setApp(ctx, { appId, disabled: true })
}

async function compare(
  bench: Bench,
  what: 'withdraw' | 'change and verify',
  applications: number,
  events: EventType[],
) {
  const { ctx, application } = bench
  const apps: string[] = []
  for (let n = 0; n < applications; n++) {
    const { appId } = await registerApp(ctx, { name: `App ${n}`, endpoint: application.endpoint, events })
    apps.push(appId)
  }
  const toldMs: number[] = []
  application.heard = (body) => {
    const { type, timestamp } = JSON.parse(body) as { type: string; timestamp: string }
    if (type === events[0]) toldMs.push(Date.now() - Date.parse(timestamp))
  }
  const tookMs = { with: [] as number[], without: [] as number[] }
  // The first round only warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const side of round % 2 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      // Nobody is connected to them.
      for (const appId of apps) await setApp(ctx, { appId, audience: side === 'with' ? 'everyone' : 'connected' })
      const people = await Promise.all(Array.from({ length: CALLS }, () => callsOf(bench, what)))
      await untilDelivered(ctx)
      for (const calls of people) {
        let seconds = 0
        for (const call of calls) {
          seconds += await secondsOf(call)
          await untilDelivered(ctx)
        }
        if (round > 0) tookMs[side].push(1000 * seconds)
      }
    }
  }
  for (const appId of apps) await setApp(ctx, { appId, disabled: true })
  const [withMs, withoutMs] = [median(tookMs.with), median(tookMs.without)]
  const ratio = rounded(withMs / withoutMs, 2)
  print(what, { applications, withMs: rounded(withMs), withoutMs: rounded(withoutMs), ratio, toldMs: median(toldMs) })
}

/** A new person's calls, whose time counts. */
async function callsOf(
  { ctx, mailed }: Bench,
  what: 'withdraw' | 'change and verify',
): Promise<(() => Promise<unknown>)[]> {
  const { caller, email } = await givenCaller(ctx)
  const { userId } = caller.actor
  if (what === 'withdraw') return [() => withdrawAccount(caller, { userId, confirmation: 'DELETE_MY_ACCOUNT' })]
  const change = { new_email: `new.${email}`, current_password: PASSWORD, verification_method: 'email_code' } as const
  let change_request_id = ''
  return [
    async () => {
      change_request_id = (await changeEmail(caller, { userId, ...change })).change_request_id
    },
    () => {
      const message = mailed.get(change.new_email)
      const verification_code = message?.template === 'verify-new-email' ? message.code : ''
      return verifyEmail(caller, { userId, change_request_id, verification_code })
    },
  ]
}

/** What is sent after a call must not hold up the next one; where nothing is sent, the next one waits as long. */
async function untilDelivered(ctx: SystemContext) {
  do await sleep(20)
  while ((await ctx.db.eventDelivery.count({ where: { dueAt: { not: null } } })) > 0)
}
