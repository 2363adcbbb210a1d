import type { listEvents as contract, resendDeadLetters as resendContract } from '@/contract/apps'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { DEFAULT_LISTED } from '@/contract/fields'
import type { FailingApp, ShownDelivery, UnreliableApp } from '@/contract/operator'
import type { Context, SystemContext } from '../context'
import { withIsoTimes } from '../iso-times'
import { EVENT_RETRY_MS, minute } from '../limits/durations'
import { auditManager, type ManagerContext } from '../manager'
import { boolean, integer, isOneOf, type Part, type Placeholders, sql, statement, text, time } from '../sql'
import { eachBatch } from '../work/queue'
import { beginDueDeliveries } from './deliveries'
import { unknownApp } from './manage'

/** When its tries began anew: a resend and a retry give a delivery the whole time for them. */
function triesStartedAt({ timeScale }: SystemContext, retryUntil: Date | null): Date | null {
  return retryUntil && new Date(retryUntil.getTime() - EVENT_RETRY_MS * timeScale)
}

/** Newest first. Shows state, times and answers of a delivery, but not its content. */
export async function listDeliveries(
  ctx: SystemContext,
  of: {
    appId?: string | undefined
    withdrawalId?: string | undefined
    status?: string | undefined
    limit?: number | undefined
  },
): Promise<{ deliveries: ShownDelivery[] }> {
  const rows = await ctx.db.eventDelivery.findMany({
    where: {
      ...(of.appId !== undefined && { appId: of.appId }),
      ...(of.withdrawalId !== undefined && { event: { withdrawalId: of.withdrawalId } }),
      ...whereStatus(of.status),
    },
    include: { event: { select: { type: true } }, app: { select: { name: true, disabledAt: true } } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: of.limit ?? DEFAULT_LISTED,
  })
  // Prisma reads the relations after the rows, and the end of an application or of an event may come between.
  const whole = rows.filter(({ event, app }) => event && app)
  return {
    deliveries: whole.map((row) => {
      const at = triesStartedAt(ctx, row.retryUntil)
      return {
        webhook_id: row.id,
        event_id: row.eventId,
        type: row.event.type as ShownDelivery['type'],
        app_id: row.appId,
        app_name: row.app.name,
        status: row.status as ShownDelivery['status'],
        attempts: row.attempts,
        created_at: row.createdAt.toISOString(),
        tried_at: row.triedAt?.toISOString() ?? null,
        due_at: row.app.disabledAt ? null : (row.dueAt?.toISOString() ?? null),
        last_status: row.lastStatus,
        last_error: row.lastError,
        took_ms: row.tookMs,
        delivered_at: row.deliveredAt?.toISOString() ?? null,
        dead_at: row.deadAt?.toISOString() ?? null,
        retried_at: at && row.lastError !== null && row.dueAt && row.dueAt > at ? at.toISOString() : null,
      }
    }),
  }
}

/** Uses the partial index, if there is one. */
function whereStatus(status: string | undefined) {
  if (status === 'pending') return { dueAt: { not: null } }
  if (status === 'dead') return { deadAt: { not: null } }
  return status === undefined ? {} : { status }
}

const MAX_COUNTED = 1_000

const readFailing = statement(
  'failing-apps',
  { failingSince: time, minAttempts: integer, maxRows: integer },
  {
    app_id: text,
    name: text,
    waiting: integer,
    dead: integer,
    attempts: integer,
    since: time,
    last_error: text.orNull,
  },
  (v) => sql`SELECT a.id AS app_id, a.name, failing.* FROM connected_apps a CROSS JOIN LATERAL (
     SELECT count(*) FILTER (WHERE dead_at IS NULL)::int AS waiting, count(*) FILTER (WHERE dead_at IS NOT NULL)::int AS dead,
       max(attempts) AS attempts, min(created_at) AS since, (array_agg(last_error ORDER BY tried_at DESC))[1] AS last_error
     FROM (
       (SELECT * FROM event_deliveries d WHERE d.app_id = a.id AND d.due_at IS NOT NULL AND a.disabled_at IS NULL
          AND d.last_error IS NOT NULL AND (d.attempts >= ${v.minAttempts} OR d.created_at <= ${v.failingSince}) LIMIT ${v.maxRows})
       UNION ALL
       (SELECT * FROM event_deliveries d WHERE d.app_id = a.id AND d.dead_at IS NOT NULL LIMIT ${v.maxRows})
     ) deliveries
   ) failing WHERE failing.since IS NOT NULL ORDER BY failing.since, a.id LIMIT ${v.maxRows}`,
)

/** A single failure is none that an operator has to know of. */
const MIN_FAILURES = 3
const MIN_FAILING_MS = 5 * minute

/** For operators: the applications whose deliveries have failed three times or for five minutes, or were given up. */
export async function failingApps(ctx: SystemContext): Promise<{ apps: FailingApp[] }> {
  const rows = await ctx.sql(readFailing, {
    failingSince: new Date(ctx.clock.now().getTime() - MIN_FAILING_MS * ctx.timeScale),
    minAttempts: MIN_FAILURES,
    maxRows: MAX_COUNTED + 1,
  })
  return { apps: rows.map(withIsoTimes) }
}

const readUnreliable = statement(
  'unreliable-apps',
  { maxRows: integer },
  {
    app_id: text,
    name: text,
    polls: boolean,
    disabled_at: time.orNull,
    waived_at: time.orNull,
    waived_error: text.orNull,
  },
  (v) => sql`SELECT id AS app_id, name, endpoint IS NULL AS polls, disabled_at, waived_at, waived_error
   FROM connected_apps
   WHERE waived_at IS NOT NULL OR disabled_at IS NOT NULL ORDER BY name, id LIMIT ${v.maxRows}`,
)

/** For operators: the applications that are disabled, or failed when somebody stopped waiting for them and have not answered well since. */
export async function unreliableApps(ctx: SystemContext): Promise<UnreliableApp[]> {
  const rows = await ctx.sql(readUnreliable, { maxRows: MAX_COUNTED })
  return rows.map(withIsoTimes)
}

/** For services. */
export async function listEvents(
  ctx: Context,
  { app, status, limit }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  const of = { appId: app, status, limit: limit === undefined ? undefined : Number(limit) }
  const { deliveries } = await listDeliveries(ctx, of)
  return { deliveries: deliveries.map(({ retried_at: _, ...delivery }) => delivery) }
}

const RESEND = {
  eventId: text.orNull,
  appId: text.orNull,
  since: time.orNull,
  now: time,
  retryUntil: time,
  maxRows: integer,
}

const BATCH_SIZE = 5_000

/** Not due now, or ended. */
const canBeResent = (v: Placeholders<typeof RESEND>) => sql`NOT (d.status = 'pending' AND d.due_at <= ${v.now})`
const HAS_SUBJECT = sql`(d.subject IS NOT NULL OR d.sealed_data IS NOT NULL)`

const resend = (name: string, matches: (v: Placeholders<typeof RESEND>) => Part) =>
  statement(
    name,
    RESEND,
    { id: text },
    (v) => sql`UPDATE event_deliveries d
     SET status = 'pending', due_at = ${v.now}, dead_at = NULL, delivered_at = NULL, retry_until = ${v.retryUntil}
     WHERE ${isOneOf(sql`d.id`, sql`SELECT d.id FROM event_deliveries d WHERE ${matches(v)} AND ${HAS_SUBJECT} AND ${canBeResent(v)} LIMIT ${v.maxRows}`)}
     RETURNING d.id`,
  )
const resendOfEvent = resend('resend-event', (v) => sql`d.event_id = ${v.eventId}`)
const resendOfApp = resend('resend-events-of-app', (v) => sql`d.app_id = ${v.appId} AND d.created_at >= ${v.since}`)
const resendDeadOfApp = resend('resend-dead-letters', (v) => sql`d.app_id = ${v.appId} AND d.dead_at IS NOT NULL`)

type Resent =
  | { eventId: string }
  | { appId: string; since: Date }
  /** Only its dead letters. */
  | { appId: string; since?: undefined }

/**
 * The operator resends deliveries now, under their old ids, whether they were delivered, given up or wait for their next try. The
 * bytes are the same, but addresses are deleted once delivered. An event of a withdrawal is not resent, because its subject was
 * deleted with the first delivery.
 */
export async function resendEvents(ctx: ManagerContext, which: Resent): Promise<number> {
  const now = ctx.clock.now()
  const eventId = 'eventId' in which ? which.eventId : null
  const [appId, since] = 'appId' in which ? [which.appId, which.since ?? null] : [null, null]
  await requireKnown(ctx, eventId, appId)
  const ofApp = since ? resendOfApp : resendDeadOfApp
  const one = eventId === null ? ofApp : resendOfEvent
  const retryUntil = new Date(now.getTime() + EVENT_RETRY_MS * ctx.timeScale)
  // First, so that a crash between the batches leaves no resend without it.
  await auditManager(ctx, 'events.resent', eventId ?? appId ?? '')
  const values = { eventId, appId, since, now, retryUntil, maxRows: BATCH_SIZE }
  const count = await eachBatch(BATCH_SIZE, async () => (await ctx.sql(one, values)).length)
  ctx.background(() => beginDueDeliveries(ctx))
  return count
}

/** Of the admin API. */
export const resendDeadLetters = async (ctx: Context, { appId }: Input<typeof resendContract>) => ({
  app_id: appId,
  resent: await resendEvents(ctx, { appId }),
})

const findEvent = statement('find-event', { id: text }, {}, (v) => sql`SELECT FROM events WHERE id = ${v.id}`)
const findApp = statement('find-app', { id: text }, {}, (v) => sql`SELECT FROM connected_apps WHERE id = ${v.id}`)

async function requireKnown({ sql }: SystemContext, eventId: string | null, appId: string | null) {
  if (eventId !== null && (await sql(findEvent, { id: eventId })).length === 0) {
    throw new AppError('REQUEST_005', 'There is no event with this ID. Events are kept for thirty days.')
  }
  if (appId !== null && (await sql(findApp, { id: appId })).length === 0) throw unknownApp()
}
