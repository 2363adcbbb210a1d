import { statement } from '../context'
import type { EngineEvent } from '../ports'
import { UNWAITED } from '../sql'
import { batched } from './coalesce'

const LEASE_MS = 30_000
const BATCH = 100

const claim = statement(
  'claim-outbox-events',
  `UPDATE outbox_events SET due_at = $2, attempts = attempts + 1
   WHERE id IN (SELECT id FROM outbox_events WHERE due_at IS NOT NULL AND due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   RETURNING id, name, data`,
)
const markSent = statement(
  'mark-events-sent',
  `UPDATE outbox_events SET sent_at = $2, due_at = NULL WHERE id = ANY($1::text[]) RETURNING ${UNWAITED}`,
)

/** Hands committed events to the engine. One that is lost on the way is sent again; the engine knows it by its id. */
export const sendOutboxEvents = batched('send-outbox-events', async (ctx) => {
  for (let full = true; full; ) {
    const now = ctx.clock.now()
    const events = await ctx.sql<EngineEvent>(claim, [now, new Date(now.getTime() + LEASE_MS), BATCH])
    full = events.length === BATCH
    // What was written for an engine that is no longer configured is done with.
    if (events.length === 0 || (ctx.emit && !(await ctx.emit(events)))) return
    await ctx.sql(markSent, [events.map(({ id }) => id), ctx.clock.now()])
  }
})
