import type { SystemContext } from '../context'
import type { LedgerEntry } from '../ports'
import { coalesced } from '../queue/coalesce'
import { statement, UNWAITED } from '../sql'

const BATCH = 100

const unwritten = statement<{ maxRows: number }, UnwrittenRow>(
  'withdrawals-to-ledger',
  (v) => `SELECT id, user_id, started_at, keep_analytics, keep_audit_logs, keep_transaction_history
   FROM withdrawals WHERE ledgered_at IS NULL AND user_id IS NOT NULL ORDER BY started_at LIMIT ${v.maxRows}`,
)
// Locks the rows in the order of their ids, so that two instances do not deadlock.
const markWritten = statement<{ ids: string[]; now: Date }>(
  'mark-ledgered',
  (v) => `UPDATE withdrawals w SET ledgered_at = ${v.now}
   FROM (SELECT id FROM withdrawals WHERE id = ANY(${v.ids}::text[]) ORDER BY id FOR UPDATE) AS locked
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
 * Coalesced, because parallel runs would write and lock the same rows. Two instances may write a withdrawal twice, which changes
 * nothing.
 */
export const writeErasureLedger = coalesced('write-erasure-ledger', async (ctx) => {
  for (let isFull = true; isFull; ) {
    const rows = await ctx.sql(unwritten, { maxRows: BATCH })
    isFull = rows.length === BATCH
    if (rows.length === 0) return
    await ctx.ledger.append(rows.map((row) => toEntry(ctx, row)))
    await ctx.sql(markWritten, { ids: rows.map(({ id }) => id), now: ctx.clock.now() })
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

/** The keyed hash that stands for the id of an erased user. */
export const pseudonymOf = (ctx: SystemContext, userId: string): string =>
  ctx.secrets.mac('pseudonym', userId).toString('base64url')
