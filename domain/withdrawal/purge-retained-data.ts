import { type SystemContext, statement } from '../context'
import { erase } from './erase'

const due = statement(
  'purges-due',
  `SELECT id FROM withdrawals WHERE purged_at IS NULL AND purge_due_at <= $1 AND completed_at IS NOT NULL
   ORDER BY purge_due_at LIMIT $2`,
)
const lock = statement(
  'lock-purge',
  'SELECT user_id FROM withdrawals WHERE id = $1 AND purged_at IS NULL FOR UPDATE SKIP LOCKED',
)
const deleteRetained = statement('purge-retained-records', 'DELETE FROM retained_records WHERE withdrawal_id = $1')
const deleteNotifications = statement(
  'purge-app-notifications',
  'DELETE FROM app_notifications WHERE withdrawal_id = $1',
)
const clear = statement(
  'purge-withdrawal',
  'UPDATE withdrawals SET user_id = NULL, feedback = NULL, purged_at = $2 WHERE id = $1',
)

/** Ends the retention of withdrawals whose time has come; returns how many. A withdrawal that is not completed keeps its data. */
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

async function purge(ctx: SystemContext, withdrawalId: string): Promise<boolean> {
  return ctx.transaction(async (sql) => {
    const [row] = await sql<{ user_id: string }>(lock, [withdrawalId])
    if (!row) return false
    await erase(sql, 'purge', { withdrawalId, userId: row.user_id, pseudonym: '', keeps: new Set() })
    await sql(deleteRetained, [withdrawalId])
    await sql(deleteNotifications, [withdrawalId])
    await sql(clear, [withdrawalId, ctx.clock.now()])
    return true
  })
}
