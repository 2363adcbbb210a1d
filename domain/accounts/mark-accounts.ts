import { keyIdsOf, ledgerMarkOf, MARKS, marksOf } from '../pseudonyms'
import { integer, sql, statement, text } from '../sql'
import { coalesced } from '../work/coalesce'
import { eachBatch } from '../work/queue'

/** Open accounts without a mark of this secret. Each part is read in the order of the index, so that none reads the table. */
export const withoutMark = statement(
  'accounts-without-mark',
  { ...MARKS, maxRows: integer },
  { id: text },
  (v) => sql`(SELECT id FROM users WHERE withdrawn_at IS NULL AND ledger_mark IS NULL
    ORDER BY ledger_mark LIMIT ${v.maxRows})
   UNION ALL
   (SELECT id FROM users WHERE withdrawn_at IS NULL AND ledger_mark < ${v.first} ORDER BY ledger_mark LIMIT ${v.maxRows})
   UNION ALL
   (SELECT id FROM users WHERE withdrawn_at IS NULL AND ledger_mark >= ${v.end} ORDER BY ledger_mark LIMIT ${v.maxRows})
   LIMIT ${v.maxRows}`,
)

// An account that somebody else holds is marked by a later run.
const setMarks = statement(
  'mark-accounts',
  { ids: text.list, marks: text.list },
  { id: text },
  (v) => sql`UPDATE users u SET ledger_mark = l.mark FROM unnest(${v.ids}::text[], ${v.marks}::text[]) AS l (id, mark)
   WHERE u.id = l.id AND u.id IN (
     SELECT id FROM users WHERE id = ANY(${v.ids}::text[]) AND withdrawn_at IS NULL FOR NO KEY UPDATE SKIP LOCKED)
   RETURNING u.id`,
)

const BATCH_SIZE = 1000

/** Marks accounts that an older release has made, or that bear the mark of an older secret. */
export const markAccounts = coalesced(
  'mark-accounts',
  async (ctx) => {
    const marks = marksOf(keyIdsOf(ctx)[0])
    await eachBatch(BATCH_SIZE, async () => {
      const ids = (await ctx.sql(withoutMark, { ...marks, maxRows: BATCH_SIZE })).map(({ id }) => id)
      if (ids.length === 0) return 0
      const marked = await ctx.sql(setMarks, { ids, marks: ids.map((id) => ledgerMarkOf(ctx, id)) })
      // Stop if others hold the whole batch.
      return marked.length === 0 ? 0 : ids.length
    })
  },
  0,
)
