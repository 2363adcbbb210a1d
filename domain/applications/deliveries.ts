import { setTimeout as sleep } from 'node:timers/promises'
import type { EventType } from '@/contract/vocabulary'
import type { SystemContext } from '../context'
import { CALL_LEASE_MS, EVENT_RETRY_MS, MAX_CALL_MS } from '../limits/durations'
import type { AppAnswer } from '../ports'
import { type CallQueue, createCallQueue } from '../process'
import { openSealed } from '../sealed'
import {
  boolean,
  bytes,
  type Described,
  integer,
  isOneOf,
  json,
  literal,
  NULL,
  type Part,
  type RowOf,
  sql,
  statement,
  text,
  time,
  UNWAITED,
} from '../sql'
import { coalesced, drain } from '../work/coalesce'
import { claimFor, holdPlace, isDueAndClaimable, release, takeLease } from '../work/queue'
import { isCalled, isSuccess, nextCallAt, SIGNING_ROW, sendWebhook, signingOf } from './webhook'

/** The personal members of a message, which are sealed in its delivery. */
export interface PersonalData {
  subject?: string
  account?: string
  old_email?: string
  new_email?: string
}

/** Per application and instance, so that an application that hangs holds up only its own deliveries. */
const MAX_CALLS_PER_APP = 10
/** The maximum for an application that answers at once. */
const MAX_BATCH = 100
const MAX_QUICK_ANSWER_MS = 1_000
/** A call that begins later than this could outlast its lease. */
const MAX_WAIT_MS = CALL_LEASE_MS - MAX_CALL_MS

type DeliveryRow = RowOf<typeof claimDeliveries>

// LIMIT 1 stops at the first due delivery; EXISTS would read all open deliveries, and one application may have very many.
const appsWithDueDeliveries = statement(
  'apps-with-due-deliveries',
  { now: time },
  { id: text },
  (v) => sql`SELECT a.id FROM connected_apps a
   CROSS JOIN LATERAL (
     SELECT FROM event_deliveries d WHERE d.app_id = a.id AND ${isDueAndClaimable(v, sql`d`)} ORDER BY d.due_at LIMIT 1
   ) due
   WHERE ${isCalled(sql`a`)}`,
)

const claimDeliveries = statement(
  'claim-event-deliveries',
  { appId: text, now: time, leaseUntil: time, maxRows: integer },
  {
    ...SIGNING_ROW,
    id: text,
    /** Null if it is sealed. */
    subject: text.orNull,
    sealed_data: bytes.orNull,
    attempts: integer,
    retry_until: time.orNull,
    /** Null if it is sealed. */
    account: text.orNull,
    /** The account was active when the delivery was claimed. */
    is_open: boolean,
    event_id: text,
    type: text.of<EventType>(),
    data: json.of<Record<string, string>>(),
    version: integer,
    occurred_at: time,
  },
  (v) => sql`UPDATE event_deliveries d SET ${takeLease(v, sql`d`)}
   FROM events e, connected_apps a
   WHERE ${isOneOf(
     sql`d.id`,
     sql`SELECT o.id FROM event_deliveries o WHERE o.app_id = ${v.appId} AND ${isDueAndClaimable(v, sql`o`)}
       ORDER BY o.due_at LIMIT ${v.maxRows} FOR UPDATE SKIP LOCKED`,
   )}
     AND e.id = d.event_id AND a.id = d.app_id AND ${isCalled(sql`a`)}
   RETURNING d.id, d.subject, d.sealed_data, d.attempts, d.retry_until, ${signingOf(sql`a`)}, e.user_id IS NOT NULL AS is_open,
     coalesce(e.user_id, (SELECT w.user_id FROM withdrawals w WHERE w.id = e.withdrawal_id)) AS account, e.id AS event_id, e.type, e.data, e.version, e.occurred_at, ${UNWAITED}`,
)

const OUTCOME = { id: text, now: time, status: integer, tookMs: integer }

interface Delivered extends Described<typeof OUTCOME> {
  isOpen: boolean
}

/** What the person's data export shows of a delivery that has ended; a later end replaces it. None is written after a withdrawal. */
const logEnd = (ended: Part, state: Part) =>
  sql`INSERT INTO integration_logs (id, user_id, app_id, action, details, at)
   SELECT 'inl_' || ended.id, e.user_id, ended.app_id, e.type, ${state}, ended.at
   FROM ${ended} AS ended JOIN events e ON e.id = ended.event_id WHERE coalesce(e.user_id, '') <> ''
   ON CONFLICT (id) DO UPDATE SET details = excluded.details, at = excluded.at`

// Clears personal data on delivery. The subject stays while the account is active, so that the operator can resend. A good answer
// counts however late it comes. If a crash loses a mark, the next try sets it again.
const markDelivered = statement(
  'mark-events-delivered',
  { ids: text.list, times: time.list, statuses: integer.list, tookMs: integer.list, areOpen: boolean.list },
  {},
  (
    v,
  ) => sql`WITH delivered AS (UPDATE event_deliveries d SET status = 'delivered', delivered_at = o.at, tried_at = o.at,
     last_status = o.status, took_ms = o.took_ms, last_error = NULL, subject = CASE WHEN o.is_open THEN d.subject END, sealed_data = NULL,
     ${release(NULL)}, dead_at = NULL
   FROM unnest(${v.ids}::text[], ${v.times}::timestamptz[], ${v.statuses}::int[], ${v.tookMs}::int[], ${v.areOpen}::boolean[])
     AS o (id, at, status, took_ms, is_open)
   WHERE d.id = o.id AND d.status <> 'delivered' RETURNING d.id, d.event_id, d.app_id, o.at, ${UNWAITED})
   ${logEnd(sql`delivered`, literal('delivered'))}`,
)

// Marks only the sender's own attempt: after a lost lease another instance may hold the next one.
const markFailed = statement(
  'mark-event-failed',
  {
    ...OUTCOME,
    attempts: integer,
    problem: text,
    state: text.of<'pending' | 'dead'>(),
    nextTryAt: time.orNull,
    deadAt: time.orNull,
  },
  {},
  (v) => sql`WITH failed AS (UPDATE event_deliveries
   SET status = ${v.state}, ${release(v.nextTryAt)}, dead_at = ${v.deadAt}, tried_at = ${v.now}, last_status = ${v.status}, took_ms = ${v.tookMs}, last_error = ${v.problem}
   WHERE id = ${v.id} AND attempts = ${v.attempts} AND status = 'pending' RETURNING id, event_id, app_id, dead_at AS at)
   ${logEnd(sql`(SELECT * FROM failed WHERE at IS NOT NULL)`, literal('given_up'))}`,
)

function queueOf({ process }: SystemContext, appId: string): CallQueue {
  const queue = process.deliveryCalls.get(appId) ?? createCallQueue()
  process.deliveryCalls.set(appId, queue)
  return queue
}

/** Starts every due delivery and waits for no call. Any number of instances may run it. */
export const beginDueDeliveries = coalesced('begin-due-deliveries', async (ctx) => {
  for (const { id } of await ctx.sql(appsWithDueDeliveries, { now: ctx.clock.now() })) startDeliveries(ctx, id)
})

/**
 * Claims as many deliveries as there are free places. If an application answers all of them at once, it gets larger batches, so
 * that claiming does not slow it down.
 */
function startDeliveries(ctx: SystemContext, appId: string) {
  const queue = queueOf(ctx, appId)
  const { calls } = queue
  let batch = 0
  drain(ctx, queue, async () => {
    if (calls.size >= MAX_CALLS_PER_APP) await Promise.race(calls)
    const maxRows = Math.max(batch, MAX_CALLS_PER_APP - calls.size)
    const claimed = await ctx.sql(claimDeliveries, { appId, ...claimFor(ctx, CALL_LEASE_MS), maxRows })
    const isFull = claimed.length === maxRows
    const started = await beginCalls(ctx, claimed, calls)
    const areQuick =
      isFull &&
      started &&
      (await Promise.race([started.areAnswered, sleep(MAX_QUICK_ANSWER_MS, false, { ref: false })]))
    batch = areQuick ? Math.min(2 * maxRows, MAX_BATCH) : 0
    return isFull
  })
}

/** Starts the calls as places come free; null if one has waited too long. The rest then stays until the lease ends. */
async function beginCalls(ctx: SystemContext, claimed: DeliveryRow[], calls: CallQueue['calls']) {
  const started = performance.now()
  const answers: Promise<unknown>[] = []
  for (const delivery of claimed) {
    if (calls.size >= MAX_CALLS_PER_APP) await Promise.race(calls)
    if (performance.now() - started > MAX_WAIT_MS) return null
    const answer = callForDelivery(ctx, delivery)
    answers.push(holdPlace({ calls }, answer))
    ctx.background(async () => noteAnswer(ctx, delivery, await answer))
  }
  return { areAnswered: Promise.all(answers).then(() => true) }
}

interface Answered {
  answer: AppAnswer
  tookMs: number
}

async function callForDelivery(ctx: SystemContext, delivery: DeliveryRow): Promise<Answered> {
  const started = performance.now()
  const body = bodyOf(ctx, delivery)
  const answer =
    body === null ? UNREADABLE : await sendWebhook(ctx, delivery, { id: delivery.id, body, about: aboutOf(delivery) })
  return { answer, tookMs: Math.round(performance.now() - started) }
}

async function noteAnswer(ctx: SystemContext, delivery: DeliveryRow, { answer, tookMs }: Answered): Promise<void> {
  const { id, attempts, occurred_at: occurredAt, is_open: isOpen, retry_until: retryUntil } = delivery
  const { status, problem = `HTTP ${status}` } = answer
  const now = ctx.clock.now()
  if (isSuccess(answer)) return noteDelivered(ctx, { id, now, status, tookMs, isOpen })
  const lastTryMs = retryUntil?.getTime() ?? occurredAt.getTime() + EVENT_RETRY_MS * ctx.timeScale
  const nextTryMs = Math.min(nextCallAt(ctx, attempts, answer).getTime(), lastTryMs)
  const outcome =
    now.getTime() < lastTryMs
      ? { state: 'pending' as const, nextTryAt: new Date(nextTryMs), deadAt: null }
      : { state: 'dead' as const, nextTryAt: null, deadAt: now }
  await ctx.sql(markFailed, { id, now, status, tookMs, attempts, problem, ...outcome })
}

/** What the log says about an event: its id, its type and its withdrawal. */
const aboutOf = ({ event_id: eventId, type, data }: DeliveryRow) => ({
  eventId,
  type,
  ...(data.withdrawal_id !== undefined && { withdrawalId: data.withdrawal_id }),
})

const noteDelivered = coalesced<Delivered>('note-deliveries', async (ctx, all) => {
  await ctx.sql(markDelivered, {
    ids: all.map(({ id }) => id),
    times: all.map(({ now }) => now),
    statuses: all.map(({ status }) => status),
    tookMs: all.map(({ tookMs }) => tookMs),
    areOpen: all.map(({ isOpen }) => isOpen),
  })
})

const UNREADABLE: AppAnswer = { status: 0, problem: 'no configured key opens what it tells' }

/** The body, which has the same bytes in every attempt; null if no key opens it, or the subject is gone. */
function bodyOf(ctx: SystemContext, row: DeliveryRow): string | null {
  const personal = row.sealed_data ? openSealed<PersonalData>(ctx, row.sealed_data) : {}
  if (!personal) return null
  const { subject = row.subject, account = row.account, ...addresses } = personal
  if (subject === null) return null
  const data = { ...row.data, subject, account, version: row.version, ...addresses }
  return JSON.stringify({ type: row.type, timestamp: row.occurred_at.toISOString(), data })
}
