import type { Transaction } from '../context'
import { OUTBOX_LEASE_MS } from '../limits/durations'
import { integer, json, sql, statement, text, time, UNWAITED } from '../sql'
import { coalesced } from './coalesce'
import { claimFor, eachBatch, isDue, moveDueAt } from './queue'

/** The events that an engine gets; due-work.ts says what each of them wakes. */
export const ENGINE_EVENTS = ['account/withdrawal.started'] as const
export type EngineEventName = (typeof ENGINE_EVENTS)[number]

const BATCH_SIZE = 100

const claim = statement(
  'claim-outbox-events',
  { now: time, leaseUntil: time, maxRows: integer },
  { id: text, name: text, data: json.of<Record<string, string>>() },
  (v) => sql`UPDATE outbox_events SET ${moveDueAt(v)}
   WHERE id IN (
     SELECT id FROM outbox_events WHERE ${isDue(v)} ORDER BY due_at LIMIT ${v.maxRows} FOR UPDATE SKIP LOCKED
   )
   RETURNING id, name, data`,
)
const markSent = statement(
  'mark-events-sent',
  { ids: text.list, now: time },
  {},
  (v) =>
    sql`UPDATE outbox_events SET sent_at = ${v.now}, due_at = NULL WHERE id = ANY(${v.ids}::text[]) RETURNING ${UNWAITED}`,
)

const insertEvent = statement(
  'add-outbox-event',
  { id: text, name: text, data: text, at: time },
  {},
  (v) => sql`INSERT INTO outbox_events (id, name, data, created_at, due_at)
   VALUES (${v.id}, ${v.name}, ${v.data}::jsonb, ${v.at}, ${v.at})`,
)

/** Wakes the engine after the commit. Without one the timer finds the same work. */
export async function addOutboxEvent(
  tx: Transaction,
  { id, name, data, at }: { id: string; name: EngineEventName; data: Record<string, string>; at: Date },
): Promise<void> {
  if (!tx.emit) return
  await tx.sql(insertEvent, { id, name, data: JSON.stringify(data), at })
  tx.afterCommit((ctx) => sendOutboxEvents(ctx))
}

/** Hands committed events to the engine. An event that is lost on the way is sent again; the engine recognises it by its id. */
export const sendOutboxEvents = coalesced('send-outbox-events', async (ctx) => {
  await eachBatch(BATCH_SIZE, async () => {
    const events = await ctx.sql(claim, { ...claimFor(ctx, OUTBOX_LEASE_MS), maxRows: BATCH_SIZE })
    // Without an engine, events that were written for a former one are marked as sent.
    if (events.length === 0 || (ctx.emit && !(await ctx.emit(events)))) return 0
    await ctx.sql(markSent, { ids: events.map(({ id }) => id), now: ctx.clock.now() })
    return events.length
  })
})
