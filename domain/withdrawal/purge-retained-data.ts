import { type SystemContext, statement } from '../context'
import type { Sql } from '../sql'
import { ERASURE_MS, erase, FIRST_BATCH, nextBatch, TIME_TO_ERASE } from './erase'

const due = statement(
  'purges-due',
  'SELECT id FROM withdrawals WHERE purged_at IS NULL AND purge_due_at <= $1 ORDER BY purge_due_at LIMIT $2',
)
const lock = statement(
  'lock-purge',
  `SELECT user_id, purged_at IS NOT NULL AS is_purged, ${TIME_TO_ERASE} FROM withdrawals WHERE id = $1 FOR UPDATE SKIP LOCKED`,
)
const deleteRetained = {
  ...statement(
    'purge-retained-records',
    `WITH deleted AS (
       DELETE FROM retained_records WHERE id = ANY(ARRAY(SELECT id FROM retained_records WHERE withdrawal_id = $1 LIMIT $2)) RETURNING 1
     )
     SELECT count(*) < $2 AS is_over FROM deleted`,
  ),
  timeoutMs: ERASURE_MS,
}
const clear = statement('purge-withdrawal', 'UPDATE withdrawals SET feedback = NULL, purged_at = $2 WHERE id = $1')
const deleteTold = statement(
  'purge-app-notifications',
  `DELETE FROM app_notifications WHERE withdrawal_id = $1 AND status = 'completed'`,
)
// With its deliveries, and the application's own id of the user in them.
const deleteEvents = statement('purge-events', 'DELETE FROM events WHERE withdrawal_id = $1')
// The erasures find the person by the user id; what an application is told does not need it.
const forgetUser = statement(
  'purge-user-id',
  `UPDATE withdrawals SET user_id = NULL
   WHERE id = $1 AND NOT EXISTS (
     SELECT FROM deletion_steps
     WHERE withdrawal_id = $1 AND step <> 'third_party_integrations' AND status <> 'completed')`,
)

/** Ends the retention of withdrawals whose time has come, completed or not; returns how many. */
export async function purgeRetainedData(ctx: SystemContext, batch = 50): Promise<number> {
  const failures: unknown[] = []
  let purged = 0
  for (;;) {
    const rows = await ctx.sql<{ id: string }>(due, [ctx.clock.now(), batch])
    let ended = 0
    for (const { id } of rows) {
      try {
        if (await purge(ctx, id)) ended++
      } catch (error) {
        failures.push(error)
      }
    }
    purged += ended
    // A batch of which nothing was ours is another instance's.
    if (rows.length < batch || ended === 0) break
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} purges failed`)
  return purged
}

/** In batches, each a transaction: whoever comes after a crash finds less. False where another instance has it. */
async function purge(ctx: SystemContext, withdrawalId: string): Promise<boolean> {
  for (let rows = FIRST_BATCH, at = performance.now(); ; ) {
    const state = await ctx.transaction((sql) => purgeBatch(ctx, sql, withdrawalId, rows))
    if (state !== 'begun') return state === 'over'
    const now = performance.now()
    rows = nextBatch(rows, now - at)
    at = now
  }
}

async function purgeBatch(ctx: SystemContext, sql: Sql, withdrawalId: string, rows: number) {
  const [row] = await sql<{ user_id: string; is_purged: boolean }>(lock, [withdrawalId])
  if (!row || row.is_purged) return 'not_ours'
  const erased = { withdrawalId, userId: row.user_id, pseudonym: '', keeps: new Set<never>() }
  // An application that has not been told is told all the same: its row holds what that needs.
  const areErased = [
    await erase(sql, 'third_party_integrations', erased, rows),
    await erase(sql, 'purge', erased, rows),
    (await sql<{ is_over: boolean }>(deleteRetained, [withdrawalId, rows]))[0]?.is_over,
  ]
  if (!areErased.every(Boolean)) return 'begun'
  await sql(deleteEvents, [withdrawalId])
  await sql(clear, [withdrawalId, ctx.clock.now()])
  await forgetPurged(sql, withdrawalId)
  return 'over'
}

/** What the purge leaves to the steps that are still open: asked again as each of them ends. */
export async function forgetPurged(sql: Sql, withdrawalId: string): Promise<void> {
  await sql(deleteTold, [withdrawalId])
  await sql(forgetUser, [withdrawalId])
}
