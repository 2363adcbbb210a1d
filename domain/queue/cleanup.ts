import { type SystemContext, statement } from '../context'

const DAY_MS = 24 * 60 * 60 * 1000
const BATCH = 1000

interface Forgotten {
  table: string
  key?: string
  /** Of rows that nobody needs any more; $1 is the time `afterMs` ago. Each is found by an index. */
  over: string
  afterMs?: number
  /** The column that is cleared, where the row itself stays. */
  clears?: string
}

/** Revoked or expired, whichever came first. */
const ENDED_AT = 'least(revoked_at, expires_at)'

/** What has ended, for as long as an account lives: who owns it may still want to see the last month. */
export const FORGOTTEN: readonly Forgotten[] = [
  { table: 'rate_limits', key: 'key', over: 'expires_at < $1 ORDER BY expires_at' },
  { table: 'idempotency_keys', key: 'key', over: 'expires_at <= $1 ORDER BY expires_at' },
  { table: 'outbox_events', over: 'sent_at < $1 ORDER BY sent_at', afterMs: DAY_MS },
  { table: 'sessions', over: `${ENDED_AT} < $1 ORDER BY ${ENDED_AT}`, afterMs: 30 * DAY_MS },
  { table: 'access_tokens', over: `${ENDED_AT} < $1 ORDER BY ${ENDED_AT}`, afterMs: 30 * DAY_MS },
  { table: 'reauth_requests', over: 'started_at < $1 ORDER BY started_at', afterMs: DAY_MS },
  // Their notices go with them, but a notice that still waits for the mail server keeps its change, which names the addresses.
  // OFFSET 0 has the notices of each looked up; a join would read all of them.
  {
    table: 'email_change_requests',
    over: `requested_at < $1 AND expires_at < $1
           AND NOT EXISTS (
             SELECT FROM notices n
             WHERE n.change_request_id = email_change_requests.id AND n.sent_at IS NULL AND n.failed_at IS NULL
             OFFSET 0
           )
           ORDER BY requested_at`,
    afterMs: 30 * DAY_MS,
  },
  { table: 'audit_events', clears: 'ip', over: 'ip IS NOT NULL AND at < $1 ORDER BY at', afterMs: 30 * DAY_MS },
]

const deletions = FORGOTTEN.map(({ table, key = 'id', over, afterMs = 0, clears }) => ({
  afterMs,
  // As an array the keys are looked up in the index; with IN, or out of order, the planner may read the whole table.
  forget: statement(
    `forget-${table.replaceAll('_', '-')}`,
    `WITH forgotten AS (
       ${clears ? `UPDATE ${table} SET ${clears} = NULL` : `DELETE FROM ${table}`}
       WHERE ${key} = ANY(ARRAY(SELECT ${key} FROM ${table} WHERE ${over} LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))
       RETURNING ${key}
     )
     SELECT count(*)::int AS count FROM forgotten`,
  ),
}))

/** However much has come together; in small statements, so that nobody waits long for a row. */
export async function forgetWhatIsOver(ctx: SystemContext): Promise<void> {
  const failures: unknown[] = []
  for (const deletion of deletions) await forgetAll(ctx, deletion).catch((error) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'not everything could be forgotten')
}

async function forgetAll(ctx: SystemContext, { forget, afterMs }: (typeof deletions)[number]) {
  const before = new Date(ctx.clock.now().getTime() - afterMs)
  for (let count = BATCH; count === BATCH; ) {
    const [row] = await ctx.sql<{ count: number }>(forget, [before])
    count = row?.count ?? 0
  }
}
