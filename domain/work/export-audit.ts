import { setTimeout as sleep } from 'node:timers/promises'
import { AUDIT_ACTIONS } from '../audit-actions'
import type { SystemContext } from '../context'
import { second } from '../limits/durations'
import type { AuditRecord } from '../ports'
import { pseudonymOf } from '../pseudonyms'
import { integer, type RowOf, sql, statement, text, time } from '../sql'
import { claimFor, leaseEnd } from './queue'

const BATCH_SIZE = 1000
/** A row tells the time before its commit. Later than this no transaction is still open. */
const MAX_COMMIT_DELAY_MS = 10 * second
const FOLLOW_INTERVAL_MS = 2 * second

const readAudit = statement(
  'read-audit',
  { after: time, afterId: text, before: time, maxRows: integer },
  { id: text, user_id: text, action: text, actor: text, actor_id: text.orNull, subject_id: text.orNull, at: time },
  (v) => sql`SELECT id, user_id, action, actor, actor_id, subject_id, at FROM audit_events
   WHERE (at, id) > (${v.after}::timestamptz, ${v.afterId}) AND at <= ${v.before}
   ORDER BY at, id LIMIT ${v.maxRows}`,
)

type Row = RowOf<typeof readAudit>

/** Nothing personal: ids of rows, and accounts as their pseudonyms, which only this service can make. */
function toRecord(ctx: SystemContext, row: Row): AuditRecord {
  const { user_id: userId, action, actor, actor_id: actorId, subject_id: subject } = row
  const member = Object.hasOwn(AUDIT_ACTIONS, action) ? AUDIT_ACTIONS[action as keyof typeof AUDIT_ACTIONS] : null
  // The row of an act on no account belongs to the operator.
  const isOnAccount = !(actor === 'operator' && userId === actorId && subject !== null)
  return {
    at: row.at.toISOString(),
    event: action,
    account: isOnAccount && userId.startsWith('usr_') ? pseudonymOf(ctx, userId) : null,
    way: actor,
    ...(member && subject !== null && { [member]: subject }),
    ...(actorId?.startsWith('svt_') && { service_token_id: actorId }),
    ...(actor === 'operator' && actorId !== null && { operator: pseudonymOf(ctx, actorId) }),
  }
}

interface Place {
  after: Date
  afterId: string
}

/** The rows since a time, oldest first. With `follow` it never ends, and yields each further row once, within seconds. */
export async function* exportAudit(
  ctx: SystemContext,
  { since, follow = false }: { since: Date; follow?: boolean },
): AsyncGenerator<AuditRecord[]> {
  let place: Place = { after: new Date(since.getTime() - 1), afterId: '\uffff' }
  /** What was exported already of the time in which older rows may still be committed. One pass reads no row twice. */
  let exported = new Map<string, number>()
  for (;;) {
    const now = ctx.clock.now()
    const settled = Math.max(place.after.getTime(), now.getTime() - MAX_COMMIT_DELAY_MS)
    for await (const rows of readBatches(ctx, place, now)) {
      const fresh = rows.filter(({ id }) => !exported.has(id))
      for (const { id, at } of fresh) if (follow && at.getTime() >= settled) exported.set(id, at.getTime())
      if (fresh.length > 0) yield fresh.map((row) => toRecord(ctx, row))
    }
    if (!follow) return
    place = { after: new Date(settled), afterId: '' }
    exported = new Map([...exported].filter(([, at]) => at >= settled))
    await sleep(FOLLOW_INTERVAL_MS)
  }
}

async function* readBatches(ctx: SystemContext, { after, afterId }: Place, before: Date): AsyncGenerator<Row[]> {
  for (let count = BATCH_SIZE; count === BATCH_SIZE; ) {
    const rows = await ctx.sql(readAudit, { after, afterId, before, maxRows: BATCH_SIZE })
    const last = rows.at(-1)
    if (last) {
      after = last.at
      afterId = last.id
    }
    count = rows.length
    yield rows
  }
}

const LEASE_MS = 30 * second

// The first claim begins with its own time: what was before is for the export.
const claimPlace = statement(
  'claim-audit-place',
  { now: time, leaseUntil: time, start: time },
  { after: time, after_id: text },
  (v) => sql`INSERT INTO audit_collector (id, after, after_id, leased_until) VALUES (1, ${v.start}, '', ${v.leaseUntil})
   ON CONFLICT (id) DO UPDATE SET leased_until = excluded.leased_until WHERE audit_collector.leased_until <= ${v.now}
   RETURNING after, after_id`,
)

const movePlace = statement(
  'move-audit-place',
  { after: time, afterId: text, heldUntil: time, leaseUntil: time },
  { leased_until: time },
  (v) => sql`UPDATE audit_collector SET after = ${v.after}, after_id = ${v.afterId}, leased_until = ${v.leaseUntil}
   WHERE id = 1 AND leased_until = ${v.heldUntil} AND (after, after_id) < (${v.after}::timestamptz, ${v.afterId})
   RETURNING leased_until`,
)

const releasePlace = statement(
  'release-audit-place',
  { now: time, heldUntil: time },
  {},
  (v) => sql`UPDATE audit_collector SET leased_until = ${v.now} WHERE id = 1 AND leased_until = ${v.heldUntil}`,
)

/** Sends the rows that the collector does not have yet. One instance does at a time; rows that it did not take are sent again. */
export async function sendAudit(ctx: SystemContext): Promise<void> {
  const { auditCollector } = ctx
  if (!auditCollector) return
  const { now, leaseUntil } = claimFor(ctx, LEASE_MS)
  const before = new Date(now.getTime() - MAX_COMMIT_DELAY_MS)
  let heldUntil = leaseUntil
  const [claimed] = await ctx.sql(claimPlace, { now, leaseUntil, start: before })
  if (!claimed) return
  try {
    for await (const rows of readBatches(ctx, { after: claimed.after, afterId: claimed.after_id }, before)) {
      const last = rows.at(-1)
      if (!last) break
      await auditCollector(rows.map((row) => toRecord(ctx, row)))
      const place = { after: last.at, afterId: last.id }
      const [moved] = await ctx.sql(movePlace, { ...place, heldUntil, leaseUntil: leaseEnd(ctx.clock.now(), LEASE_MS) })
      // Another instance claimed the place when this one took too long.
      if (!moved) return
      heldUntil = moved.leased_until
    }
  } finally {
    await ctx.sql(releasePlace, { now: ctx.clock.now(), heldUntil })
  }
}
