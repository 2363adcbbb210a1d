import type { KeptFor } from '@/contract/vocabulary'
import { STEPS } from '@/contract/withdrawal'
import type { Transaction } from '../context'
import type { ErasurePhase } from '../deletion-counts'
import { addCounts } from '../deletion-counts'
import { ERASURE_TIMEOUT_MS } from '../limits/durations'
import {
  boolean,
  identifier,
  integer,
  isOneOf,
  joined,
  literal,
  NOTHING,
  type Part,
  type Placeholders,
  sql,
  statement,
  text,
} from '../sql'
import { erasuresOf } from './deletion-map'
import type { Erasure } from './steps/deletion-step'

interface Erased {
  withdrawalId: string
  userId: string
  pseudonym: string
  /** What must be kept; empty once the retention has ended. */
  keeps: ReadonlySet<KeptFor>
}

/** A column that gives the later statements of its transaction this much time. */
export const TIME_TO_ERASE = sql`set_config('statement_timeout', '${ERASURE_TIMEOUT_MS}', true)`

/** The rows of each table in one transaction. Most people have fewer in all. */
export const FIRST_BATCH = 5_000
const MAX_BATCH = 40_000
const LONG_BATCH_MS = 2_000

/** Adapts the next batch to the time that the last one took, because a person may have ten million rows. */
export const nextBatch = (rows: number, tookMs: number): number =>
  tookMs > LONG_BATCH_MS ? Math.max(rows / 2, FIRST_BATCH) : Math.min(rows * 2, MAX_BATCH)

/** Calls `run` with the rows of a batch, until it returns a result. */
export async function inBatches<Result>(run: (rows: number) => Promise<Result | null>): Promise<Result> {
  for (let rows = FIRST_BATCH, at = performance.now(); ; ) {
    const result = await run(rows)
    if (result !== null) return result
    const now = performance.now()
    rows = nextBatch(rows, now - at)
    at = now
  }
}

const ERASE_VALUES = {
  userId: text,
  withdrawalId: text,
  pseudonym: text,
  keeps: text.of<KeptFor>().list,
  /** The maximum of rows of one table that the statement deletes. */
  maxRows: integer,
}
type EraseValues = Placeholders<typeof ERASE_VALUES>

// A withdraw call that waited for the account's lock holds it while it takes a place in a limit. So the erasure takes this lock first
// too. The account may be gone.
const lockAccount = statement(
  'lock-account-to-erase',
  { userId: text },
  {},
  (v) => sql`SELECT FROM users WHERE id = ${v.userId} FOR UPDATE`,
)

/**
 * Deletes what the map names for this phase, at most `maxRows` rows of each table. Copies what must be kept first. True when
 * nothing is left; running it again then finds nothing.
 */
export async function erase(tx: Transaction, when: ErasurePhase, erased: Erased, maxRows: number): Promise<boolean> {
  const erasure = ERASURES.get(when)
  // In a rolling upgrade an older instance may claim a step that only newer ones know: it must not complete it.
  if (!erasure) throw new Error(`unknown deletion step ${when}`)
  const [, [answer]] = await Promise.all([
    tx.sql(lockAccount, { userId: erased.userId }),
    tx.sql(erasure, { ...erased, keeps: [...erased.keeps], maxRows }),
  ])
  return answer?.is_over === true
}

/**
 * Handles all tables of the phase at once: each part sees the rows as they were before, so their order does not matter. A row is
 * deleted by its key, even if it was changed meanwhile. The account is deleted last, because other rows are deleted with it. The
 * same statement writes the counts, so that a run after a crash neither misses a row nor counts one twice.
 */
function eraseAt(when: ErasurePhase) {
  const erasures = erasuresOf(when)
  const account = erasures.find(({ table }) => table === 'users')
  const many = erasures.filter((erasure) => erasure !== account)
  return statement(
    `erase-${when}`,
    ERASE_VALUES,
    { is_over: boolean },
    (v) => {
      const isOver = sql`(SELECT ${joined(
        many.map((_erasure, index) => sql`rows_${index} < ${v.maxRows}`),
        sql` AND `,
      )} FROM counted)`
      const counted = many.map((_erasure, index) => sql`(SELECT count(*) FROM deleted_${index}) AS rows_${index}`)
      const parts = [
        ...many.flatMap((erasure, index) => eraseTable(v, erasure, sql`${index}`)),
        sql`counted AS MATERIALIZED (SELECT ${joined(counted)})`,
        ...(account ? [sql`account AS (DELETE FROM users WHERE id = ${v.userId} AND ${isOver} RETURNING 1)`] : []),
      ]
      const counts = erasures.map((erasure) => ({
        category: erasure.category,
        outcome: outcomeOf(v, erasure),
        records:
          erasure === account
            ? sql`(SELECT count(*) FROM account)`
            : sql`(SELECT rows_${many.indexOf(erasure)} FROM counted)`,
      }))
      return sql`WITH ${joined(parts)}, counts AS (${addCounts(v.withdrawalId, when, counts)}) SELECT ${isOver} AS is_over`
    },
    { timeoutMs: ERASURE_TIMEOUT_MS },
  )
}

/** The parts that delete the rows of a table, and keep what must be kept of them. */
function eraseTable(v: EraseValues, erasure: Erasure, place: Part): Part[] {
  const deleted = sql`deleted_${place} AS (${deleteRows(v, erasure)})`
  const { kept } = erasure
  return kept ? [deleted, sql`kept_${place} AS (${keepFacts(v, erasure, kept, sql`deleted_${place}`)})`] : [deleted]
}

/** A kept row loses all but its facts, but it counts as retained and not as erased. */
const outcomeOf = (v: EraseValues, { kept }: Erasure) =>
  kept
    ? sql`CASE WHEN ${literal(kept.for)} = ANY(${v.keeps}::text[]) THEN ${literal(kept.for)} ELSE 'erased' END`
    : sql`'erased'`

function deleteRows(v: EraseValues, { table, key = 'id', where, kept, time = 'at' }: Erasure): Part {
  const [from, id] = [identifier(table), identifier(key)]
  const rows = sql`user_id = ${v.userId}${where ? sql` AND ${where}` : NOTHING}`
  const keys = sql`SELECT ${id} FROM ${from} WHERE ${rows} LIMIT ${v.maxRows}`
  // The key may be unique only within its user.
  return sql`DELETE FROM ${from} WHERE user_id = ${v.userId} AND ${isOneOf(id, keys)}
     RETURNING ${kept ? joined(['id', ...kept.facts, time].map(identifier)) : 1}`
}

function keepFacts(
  v: EraseValues,
  { table, time = 'at' }: Erasure,
  kept: NonNullable<Erasure['kept']>,
  deleted: Part,
): Part {
  const source = identifier(table)
  const facts = joined(kept.facts.map(identifier).map((column) => sql`'${column}', ${column}`))
  return sql`INSERT INTO retained_records (id, withdrawal_id, pseudonym, source, facts, at)
     SELECT '${source}:' || id, ${v.withdrawalId}, ${v.pseudonym}, '${source}', jsonb_build_object(${facts}), ${identifier(time)}
     FROM ${deleted} WHERE ${literal(kept.for)} = ANY(${v.keeps}::text[])
     ON CONFLICT (id) DO NOTHING`
}

const ERASURES = new Map(
  [...STEPS, 'purge' as const].filter((when) => erasuresOf(when).length > 0).map((when) => [when, eraseAt(when)]),
)
