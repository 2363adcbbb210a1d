import { backOffMs, CALL_LEASE_MS, isTold, sendWebhook } from '../applications/webhook'
import { type SystemContext, statement } from '../context'
import type { DeliveryCalls } from '../process'
import { batched } from './coalesce'

const DAY_MS = 24 * 60 * 60 * 1000
/** From the event on; then its delivery is a dead letter. */
const RETRIED_MS = 7 * DAY_MS
/** In one instance. An application that hangs holds up its own deliveries and no others. */
const CALLS_AT_ONCE_PER_APP = 10

/** Of these an application gets the ones that it was registered with. `account.withdrawn` is sent by a deletion step instead. */
export const WITHDRAWAL_STARTED = 'account.withdrawal_started'
export const EVENT_TYPES = ['account.withdrawn', WITHDRAWAL_STARTED] as const
export type EventType = (typeof EVENT_TYPES)[number]

const IS_FREE = 'due_at IS NOT NULL AND due_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)'
// The first that is due of each application. EXISTS would read all that are open, and one application may have very many.
const appsToTell = statement(
  'apps-with-due-deliveries',
  `SELECT a.id FROM connected_apps a
   CROSS JOIN LATERAL (SELECT FROM event_deliveries WHERE app_id = a.id AND ${IS_FREE} ORDER BY due_at LIMIT 1) due`,
)
const claim = statement(
  'claim-event-deliveries',
  `UPDATE event_deliveries d SET lease_until = $2, attempts = d.attempts + 1
   FROM events e, connected_apps a
   WHERE d.id = ANY(ARRAY(
       SELECT id FROM event_deliveries WHERE app_id = $3 AND ${IS_FREE} ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED
     ))
     AND e.id = d.event_id AND a.id = d.app_id
   RETURNING d.id, d.subject, d.attempts, a.endpoint, a.sealed_secret, e.type, e.data, e.version, e.occurred_at`,
)
// The subject goes with the news. An answer counts however late it comes.
const markDelivered = statement(
  'mark-event-delivered',
  `UPDATE event_deliveries SET status = 'delivered', delivered_at = $2, last_status = $3, last_error = NULL,
     subject = NULL, due_at = NULL, lease_until = NULL, dead_at = NULL
   WHERE id = $1 AND status <> 'delivered'`,
)
// By its attempt: whoever held the lease may come back when another has the next try.
const markFailed = statement(
  'mark-event-failed',
  `UPDATE event_deliveries SET status = CASE WHEN $5::timestamptz IS NULL THEN 'dead' ELSE 'pending' END,
     due_at = $5, dead_at = CASE WHEN $5::timestamptz IS NULL THEN $6::timestamptz END, lease_until = NULL,
     last_status = $3, last_error = $4
   WHERE id = $1 AND attempts = $2 AND status = 'pending'`,
)

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

function lineOf({ process }: SystemContext, appId: string): DeliveryCalls {
  const line = process.deliveryCalls.get(appId) ?? { calls: new Set<never>(), isWorkedOff: false, isAskedAgain: false }
  process.deliveryCalls.set(appId, line)
  return line
}

/** Begins every delivery that is due; of the calls it waits for none. Any number of instances may run it. */
export const beginDueDeliveries = batched('begin-due-deliveries', async (ctx) => {
  for (const { id } of await ctx.sql<{ id: string }>(appsToTell, [ctx.clock.now()])) {
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
    if (calls.size >= CALLS_AT_ONCE_PER_APP) await Promise.race(calls)
    const room = CALLS_AT_ONCE_PER_APP - calls.size
    const now = ctx.clock.now()
    const claimed = await ctx.sql<DeliveryRow>(claim, [now, new Date(now.getTime() + CALL_LEASE_MS), appId, room])
    for (const delivery of claimed) {
      const call = deliver(ctx, delivery)
      const ended: Promise<unknown> = call.catch(() => {}).then(() => calls.delete(ended))
      calls.add(ended)
      ctx.background(() => call)
    }
    isFull = claimed.length === room
  }
}

/** One try. */
async function deliver(ctx: SystemContext, delivery: DeliveryRow): Promise<void> {
  const { id, attempts, endpoint, sealed_secret: sealedSecret, occurred_at: occurredAt } = delivery
  const answer = await sendWebhook(ctx, { id, endpoint, sealedSecret, body: bodyOf(delivery) })
  const now = ctx.clock.now()
  if (isTold(answer)) {
    await ctx.sql(markDelivered, [id, now, answer.status])
    return
  }
  const lastTryMs = occurredAt.getTime() + RETRIED_MS * ctx.timeScale
  const nextTryMs = Math.min(now.getTime() + backOffMs(ctx, attempts, answer), lastTryMs)
  const nextTryAt = now.getTime() < lastTryMs ? new Date(nextTryMs) : null
  const problem = answer.problem ?? `HTTP ${answer.status}`
  await ctx.sql(markFailed, [id, attempts, answer.status, problem, nextTryAt, now])
}

/** The same bytes in every try. */
const bodyOf = ({ type, occurred_at, data, subject, version }: DeliveryRow): string =>
  JSON.stringify({ type, timestamp: occurred_at.toISOString(), data: { ...data, subject, version } })

const countDeliveries = statement(
  'watch-event-deliveries',
  `SELECT (SELECT count(*)::int FROM event_deliveries WHERE due_at IS NOT NULL) AS waiting,
          (SELECT count(*)::int FROM event_deliveries WHERE dead_at IS NOT NULL) AS dead`,
)

/** Dead letters count until the purge deletes them, or the operator has them tried again. */
export async function watchDeliveries(ctx: SystemContext): Promise<{ waiting: number; dead: number }> {
  const [row] = await ctx.sql<{ waiting: number; dead: number }>(countDeliveries, [])
  return row as { waiting: number; dead: number }
}
