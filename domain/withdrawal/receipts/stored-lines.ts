import type { SystemContext } from '../../context'
import type { StoredLine } from '../../process'
import { integer, type RowOf, sql, statement, text, time } from '../../sql'
import { coalescedLookup } from '../../work/coalesce'

const findStanding = statement(
  'standing-ledger-lines',
  { ids: text.list },
  {
    id: text,
    origin: text,
    /** Null where a release before the chain wrote the line. */
    ledger_seq: integer.orNull,
    ledger_hash: text.orNull,
    started_at: time,
    purge_due_at: time,
    due_by: time.orNull,
  },
  (v) => sql`SELECT w.id, h.origin, w.ledger_seq, w.ledger_hash, w.started_at, w.purge_due_at, w.due_by
   FROM withdrawals w CROSS JOIN erasure_ledger h WHERE w.id = ANY(${v.ids}::text[]) AND w.ledgered_at IS NOT NULL
   AND NOT EXISTS (SELECT FROM erasure_ledger_batches b WHERE b.first_seq <= w.ledger_seq)`,
)

/** A withdrawal whose line is in the store. */
export type Standing = RowOf<typeof findStanding>

/** The withdrawal if its line is in the store. */
export const findStandingLine = coalescedLookup('standing-ledger-lines', async (ctx, ids: string[]) => {
  const rows = await ctx.sql(findStanding, { ids })
  for (const { origin, ledger_seq: seq, ledger_hash: hash } of rows) {
    if (seq !== null && hash !== null) noteSeen(ctx, { origin, seq, hash })
  }
  const standing = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => standing.get(id))
})

/** Notes that a line is in the store, if it is newer than those that this process has seen there. */
export function noteSeen({ process: { ledger } }: SystemContext, line: StoredLine): void {
  const { seen } = ledger
  if (!seen || (seen.origin === line.origin && seen.seq < line.seq)) ledger.seen = line
}
