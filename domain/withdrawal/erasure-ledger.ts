import { type SystemContext, statement } from '../context'
import type { LedgerEntry } from '../ports'
import { batched } from '../queue/coalesce'
import { UNWAITED } from '../sql'

const BATCH = 100

const unwritten = statement(
  'withdrawals-to-ledger',
  `SELECT id, user_id, started_at, keep_analytics, keep_audit_logs, keep_transaction_history
   FROM withdrawals WHERE ledgered_at IS NULL AND user_id IS NOT NULL ORDER BY started_at LIMIT $1`,
)
const markWritten = statement(
  'mark-ledgered',
  // In one order, so that two instances do not wait for each other.
  `UPDATE withdrawals w SET ledgered_at = $2
   FROM (SELECT id FROM withdrawals WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE) AS locked
   WHERE w.id = locked.id RETURNING ${UNWAITED}`,
)

interface UnwrittenRow {
  id: string
  user_id: string
  started_at: Date
  keep_analytics: boolean
  keep_audit_logs: boolean
  keep_transaction_history: boolean
}

/**
 * Runs beside each other would all write, and lock, the same rows. A withdrawal that two instances write at once stands in the
 * ledger twice, which changes nothing.
 */
export const writeErasureLedger = batched('write-erasure-ledger', async (ctx) => {
  for (let full = true; full; ) {
    const rows = await ctx.sql<UnwrittenRow>(unwritten, [BATCH])
    full = rows.length === BATCH
    if (rows.length === 0) return
    await ctx.ledger.append(rows.map((row) => toEntry(ctx, row)))
    await ctx.sql(markWritten, [rows.map(({ id }) => id), ctx.clock.now()])
  }
})

const toEntry = (ctx: SystemContext, row: UnwrittenRow): LedgerEntry => ({
  withdrawalId: row.id,
  pseudonym: pseudonymOf(ctx, row.user_id),
  startedAt: row.started_at.toISOString(),
  keeps: {
    analytics: row.keep_analytics,
    auditLogs: row.keep_audit_logs,
    transactionHistory: row.keep_transaction_history,
  },
})

/** What stands for a user whose id is to be forgotten. */
export const pseudonymOf = (ctx: SystemContext, userId: string): string =>
  ctx.secrets.mac('pseudonym', userId).toString('base64url')
