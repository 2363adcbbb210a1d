import { backOffMs, isTold, sendWebhook } from '../applications/webhook'
import type { SystemContext } from '../context'
import { CALL_LEASE_MS, EVENT_RETRY_MS } from '../limits/durations'
import type { DeliveryCalls } from '../process'
import { isDueAndClaimable, isOneOf, type NoValues, statement } from '../sql'
import { coalesced } from './coalesce'

/** Per application and instance, so that an application that hangs holds up only its own deliveries. */
const MAX_CALLS_PER_APP = 10

/** An application gets the events that it was registered with. A deletion step sends `account.withdrawn`, and the queue the others. */
export const WITHDRAWAL_STARTED = 'account.withdrawal_started'
export const EVENT_TYPES = ['account.withdrawn', WITHDRAWAL_STARTED] as const
export type EventType = (typeof EVENT_TYPES)[number]

interface DeliveryRow {
  id: string
  subject: string
  attempts: number
  endpoint: string
  sealed_secret: Buffer
  type: EventType
  data: Record<string, string>
  version: number
  occurred_at: Date
}

// LIMIT 1 stops at the first due delivery; EXISTS would read all open deliveries, and one application may have very many.
const appsToTell = statement<{ now: Date }, { id: string }>(
  'apps-with-due-deliveries',
  (v) => `SELECT a.id FROM connected_apps a
   CROSS JOIN LATERAL (
     SELECT FROM event_deliveries d WHERE d.app_id = a.id AND ${isDueAndClaimable(v, 'd')} ORDER BY d.due_at LIMIT 1
   ) due`,
)

interface Claim {
  appId: string
  now: Date
  leaseUntil: Date
  maxRows: number
}

const claim = statement<Claim, DeliveryRow>(
  'claim-event-deliveries',
  (v) => `UPDATE event_deliveries d SET lease_until = ${v.leaseUntil}, attempts = d.attempts + 1
   FROM events e, connected_apps a
   WHERE ${isOneOf(
     'd.id',
     `SELECT o.id FROM event_deliveries o WHERE o.app_id = ${v.appId} AND ${isDueAndClaimable(v, 'o')}
       ORDER BY o.due_at LIMIT ${v.maxRows} FOR UPDATE SKIP LOCKED`,
   )}
     AND e.id = d.event_id AND a.id = d.app_id
   RETURNING d.id, d.subject, d.attempts, a.endpoint, a.sealed_secret, e.type, e.data, e.version, e.occurred_at`,
)

// The application's id of the person is cleared with the delivery. A good answer counts however late it comes.
const markDelivered = statement<{ id: string; now: Date; status: number }>(
  'mark-event-delivered',
  (
    v,
  ) => `UPDATE event_deliveries SET status = 'delivered', delivered_at = ${v.now}, last_status = ${v.status}, last_error = NULL,
     subject = NULL, due_at = NULL, lease_until = NULL, dead_at = NULL
   WHERE id = ${v.id} AND status <> 'delivered'`,
)

interface Failure {
  id: string
  attempts: number
  status: number
  problem: string
  /** Null where the delivery becomes a dead letter. */
  nextTryAt: Date | null
  now: Date
}

// Only of the sender's own attempt: after a lost lease another instance may hold the next attempt.
const markFailed = statement<Failure>(
  'mark-event-failed',
  (v) => `UPDATE event_deliveries
   SET status = CASE WHEN ${v.nextTryAt}::timestamptz IS NULL THEN 'dead' ELSE 'pending' END, due_at = ${v.nextTryAt},
     dead_at = CASE WHEN ${v.nextTryAt}::timestamptz IS NULL THEN ${v.now}::timestamptz END, lease_until = NULL,
     last_status = ${v.status}, last_error = ${v.problem}
   WHERE id = ${v.id} AND attempts = ${v.attempts} AND status = 'pending'`,
)

function lineOf({ process }: SystemContext, appId: string): DeliveryCalls {
  const line = process.deliveryCalls.get(appId) ?? { calls: new Set<never>(), isWorkedOff: false, isAskedAgain: false }
  process.deliveryCalls.set(appId, line)
  return line
}

/** Begins every due delivery and waits for no call. Any number of instances may run it. */
export const beginDueDeliveries = coalesced('begin-due-deliveries', async (ctx) => {
  for (const { id } of await ctx.sql(appsToTell, { now: ctx.clock.now() })) {
    const line = lineOf(ctx, id)
    line.isAskedAgain = true
    if (line.isWorkedOff) continue
    line.isWorkedOff = true
    ctx.background(() =>
      workOff(ctx, id, line).finally(() => {
        line.isWorkedOff = false
      }),
    )
  }
})

async function workOff(ctx: SystemContext, appId: string, line: DeliveryCalls) {
  const { calls } = line
  for (let isFull = false; isFull || line.isAskedAgain; ) {
    line.isAskedAgain = false
    if (calls.size >= MAX_CALLS_PER_APP) await Promise.race(calls)
    const maxRows = MAX_CALLS_PER_APP - calls.size
    const now = ctx.clock.now()
    const leaseUntil = new Date(now.getTime() + CALL_LEASE_MS)
    const claimed = await ctx.sql(claim, { appId, now, leaseUntil, maxRows })
    for (const delivery of claimed) {
      const call = deliver(ctx, delivery)
      const ended: Promise<unknown> = call.catch(() => {}).then(() => calls.delete(ended))
      calls.add(ended)
      ctx.background(() => call)
    }
    isFull = claimed.length === maxRows
  }
}

/** One delivery attempt. */
async function deliver(ctx: SystemContext, delivery: DeliveryRow): Promise<void> {
  const { id, attempts, endpoint, sealed_secret: sealedSecret, occurred_at: occurredAt } = delivery
  const answer = await sendWebhook(ctx, { id, endpoint, sealedSecret, body: bodyOf(delivery) })
  const now = ctx.clock.now()
  if (isTold(answer)) {
    await ctx.sql(markDelivered, { id, now, status: answer.status })
    return
  }
  const lastTryMs = occurredAt.getTime() + EVENT_RETRY_MS * ctx.timeScale
  const nextTryMs = Math.min(now.getTime() + backOffMs(ctx, attempts, answer), lastTryMs)
  const nextTryAt = now.getTime() < lastTryMs ? new Date(nextTryMs) : null
  const problem = answer.problem ?? `HTTP ${answer.status}`
  await ctx.sql(markFailed, { id, attempts, status: answer.status, problem, nextTryAt, now })
}

/** The same bytes in every attempt. */
const bodyOf = ({ type, occurred_at, data, subject, version }: DeliveryRow): string =>
  JSON.stringify({ type, timestamp: occurred_at.toISOString(), data: { ...data, subject, version } })

const countDeliveries = statement<NoValues, { waiting: number; dead: number }>(
  'watch-event-deliveries',
  () => `SELECT (SELECT count(*)::int FROM event_deliveries WHERE due_at IS NOT NULL) AS waiting,
          (SELECT count(*)::int FROM event_deliveries WHERE dead_at IS NOT NULL) AS dead`,
)

/** Dead letters count until the purge deletes them, or the operator retries them. */
export async function watchDeliveries(ctx: SystemContext): Promise<{ waiting: number; dead: number }> {
  const [row] = await ctx.sql(countDeliveries, {})
  return row ?? { waiting: 0, dead: 0 }
}
