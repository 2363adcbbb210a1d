import { CATEGORIES, type Category, type KeptFor } from '@/contract/vocabulary'
import type { Step } from '@/contract/withdrawal'
import { joined, literal, NOTHING, type Part, sql } from './sql'

/** A step that erases, or the purge, which ends the retention. */
export type ErasurePhase = Step | 'purge'

/** One row of `deletion_counts`. */
export interface DeletionCount {
  step: ErasurePhase
  category: Category
  /** `erased`, or what keeps the records until the purge. */
  outcome: 'erased' | KeptFor
  records: number
}

/** SQL text of each value. */
interface CountParts {
  category: Category
  outcome: Part
  records: Part
}

/**
 * Adds what the parts of the same statement deleted to a step's counts; categories may repeat. The caller holds the lock of the
 * withdrawal's row, so that two statements never change counts in different orders.
 */
export const addCounts = (withdrawalId: Part, step: ErasurePhase, counts: readonly CountParts[]) =>
  sql`INSERT INTO deletion_counts AS c (withdrawal_id, step, category, outcome, records)
   SELECT ${withdrawalId}, ${literal(step)}, category, outcome, sum(records)
   FROM (VALUES ${joined(counts.map(({ category, outcome, records }) => sql`(${literal(category)}, ${outcome}, ${records})`))})
     AS part (category, outcome, records)
   GROUP BY category, outcome HAVING sum(records) > 0
   ${RAISE}`

/** Follows an INSERT INTO deletion_counts AS c. */
export const RAISE = sql`ON CONFLICT (withdrawal_id, step, category, outcome)
   DO UPDATE SET records = c.records + excluded.records`

/** The counts of a withdrawal, or of one of its steps, as one JSON array; null without any. */
export const countsOf = (withdrawalId: Part, step?: Part) =>
  sql`(SELECT json_agg(json_build_object('step', c.step, 'category', c.category, 'outcome', c.outcome, 'records', c.records))
    FROM deletion_counts c WHERE c.withdrawal_id = ${withdrawalId}${step ? sql` AND c.step = ${step}` : NOTHING})`

/** The counts as the API shows them, in the order of `CATEGORIES`. `until` is the end of the retention, ISO 8601. */
export function describeCounts(counts: readonly DeletionCount[], until: string) {
  const ordered = [...counts].sort((a, b) => CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category))
  return {
    erased: ordered
      .filter(({ outcome }) => outcome === 'erased')
      .map(({ category, records }) => ({ category, records })),
    retained: ordered.flatMap(({ category, outcome, records }) =>
      outcome === 'erased' ? [] : [{ category, records, reason: outcome, until }],
    ),
  }
}
