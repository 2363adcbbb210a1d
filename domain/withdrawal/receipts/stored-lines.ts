import { sql, statement, text } from '../../sql'
import { coalescedLookup } from '../../work/coalesce'

const findStanding = statement(
  'standing-ledger-lines',
  { ids: text.list },
  { id: text },
  (v) => sql`SELECT w.id FROM withdrawals w WHERE w.id = ANY(${v.ids}::text[]) AND w.ledgered_at IS NOT NULL
   AND NOT EXISTS (SELECT FROM erasure_ledger_batches b WHERE b.first_seq <= w.ledger_seq)`,
)

/** Whether the line of the withdrawal is in the store. */
export const isLineStored = coalescedLookup('standing-ledger-lines', async (ctx, ids: string[]) => {
  const standing = new Set((await ctx.sql(findStanding, { ids })).map(({ id }) => id))
  return ids.map((id) => standing.has(id))
})
