import type { SystemContext } from '../context'
import {
  ACCOUNT_NOTICE_RETENTION_MS,
  day,
  ENDED_RETENTION_MS,
  KNOWN_DEVICE_MS,
  RECEIPTS_KEPT_MS,
  RETIRED_KEY_KEPT_MS,
  SENT_EVENT_RETENTION_MS,
} from '../limits/durations'
import { fenced, identifier, integer, isOneOf, type Part, sql, statement, time } from '../sql'
import { eachBatch, throwAll } from './queue'

const BATCH_SIZE = 1000

interface Cleanup {
  table: string
  /** The column that identifies a row; `id` by default. `ctid` where that takes several columns: the row's lock keeps it valid. */
  key?: string
  /** Selects the ended rows by an index. `before` is the time `afterMs` ago. */
  ended(before: Part): Part
  afterMs?: number
  /** Clears this column and keeps the row. */
  clears?: string
}

const isBefore = (time: Part) => (before: Part) => sql`${time} < ${before} ORDER BY ${time}`
const hasExpired = (before: Part) => sql`expires_at <= ${before} ORDER BY expires_at`
const endedAccess = isBefore(sql`least(revoked_at, expires_at)`)

/** Looks each notice up by its change, because a join would read all notices. */
const UNSENT_NOTICE = fenced(sql`SELECT FROM notices n
     WHERE n.change_request_id = email_change_requests.id AND n.sent_at IS NULL AND n.failed_at IS NULL`)

/** Rows of an active account that have ended. The owner may still want to see the last month. */
const CLEANUPS: readonly Cleanup[] = [
  { table: 'rate_limits', key: 'key', ended: isBefore(sql`expires_at`) },
  { table: 'idempotency_keys', key: 'key', ended: hasExpired },
  { table: 'outbox_events', ended: isBefore(sql`sent_at`), afterMs: SENT_EVENT_RETENTION_MS },
  { table: 'sessions', ended: endedAccess, afterMs: ENDED_RETENTION_MS },
  { table: 'sign_ins', ended: isBefore(sql`at`), afterMs: KNOWN_DEVICE_MS },
  { table: 'access_tokens', ended: endedAccess, afterMs: ENDED_RETENTION_MS },
  { table: 'withdrawal_blockers', key: 'ctid', ended: hasExpired },
  // An event's deliveries, the log of what was sent, are deleted with it.
  { table: 'events', ended: isBefore(sql`occurred_at`), afterMs: ENDED_RETENTION_MS },
  { table: 'reauth_requests', ended: isBefore(sql`started_at`), afterMs: day },
  // When the first receipt of a withdrawal is old enough, all are deleted, because the others alone would prove less than they say.
  { table: 'withdrawal_receipts', key: 'withdrawal_id', ended: isBefore(sql`issued_at`), afterMs: RECEIPTS_KEPT_MS },
  { table: 'integration_logs', ended: isBefore(sql`at`), afterMs: ENDED_RETENTION_MS },
  { table: 'mail_deliveries', ended: isBefore(sql`sent_at`), afterMs: ENDED_RETENTION_MS },
  // Notices are deleted with their change. An unsent notice keeps its change, which holds the addresses; an undo keeps it too, because it
  // holds a withdrawal back.
  {
    table: 'email_change_requests',
    ended: (before) => sql`requested_at < ${before} AND expires_at < ${before}
           AND coalesce(reverted_at < ${before}, true) AND NOT EXISTS (${UNSENT_NOTICE})
           ORDER BY requested_at`,
    afterMs: ENDED_RETENTION_MS,
  },
  // Other notices are deleted with their change or their withdrawal.
  {
    table: 'notices',
    ended: (before) => sql`change_request_id IS NULL AND withdrawal_id IS NULL AND due_at IS NULL
           AND created_at < ${before} ORDER BY created_at`,
    afterMs: ACCOUNT_NOTICE_RETENTION_MS,
  },
  // A receipt is verified with the public part, which stays.
  {
    table: 'signing_keys',
    key: 'number',
    clears: 'sealed_private',
    ended: (before) => sql`sealed_private IS NOT NULL AND number < (
             SELECT max(s.number) FROM signing_keys s WHERE s.sealed_private IS NOT NULL AND s.signs_from < ${before}
           ) ORDER BY number`,
    afterMs: RETIRED_KEY_KEPT_MS,
  },
  {
    table: 'audit_events',
    clears: 'ip',
    ended: (before) => sql`ip IS NOT NULL AND at < ${before} ORDER BY at`,
    afterMs: ENDED_RETENTION_MS,
  },
]

function cleanUpBatch({ table, key = 'id', ended, clears }: Cleanup) {
  const [rows, id] = [identifier(table), identifier(key)]
  return statement(
    `clean-up-${table.replaceAll('_', '-')}`,
    { before: time },
    { count: integer },
    (v) => sql`WITH cleaned AS (
       ${clears ? sql`UPDATE ${rows} SET ${identifier(clears)} = NULL` : sql`DELETE FROM ${rows}`}
       WHERE ${isOneOf(id, sql`SELECT ${id} FROM ${rows} WHERE ${ended(v.before)} LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED`)}
       RETURNING ${id}
     )
     SELECT count(*)::int AS count FROM cleaned`,
  )
}
const batches = CLEANUPS.map((cleanup) => ({ deleteBatch: cleanUpBatch(cleanup), afterMs: cleanup.afterMs ?? 0 }))

/** Deletes all rows that have ended, in small statements, so that no call waits long for a row. */
export async function cleanUp(ctx: SystemContext): Promise<void> {
  if (ctx.clock.isOff?.()) return
  const failures: unknown[] = []
  for (const batch of batches) await cleanUpAll(ctx, batch).catch((error) => failures.push(error))
  throwAll(failures, 'the cleanup failed')
}

async function cleanUpAll(ctx: SystemContext, { deleteBatch, afterMs }: (typeof batches)[number]) {
  const before = new Date(ctx.clock.now().getTime() - afterMs)
  await eachBatch(BATCH_SIZE, async () => (await ctx.sql(deleteBatch, { before }))[0]?.count ?? 0)
}
