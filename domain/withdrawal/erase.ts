import type { KeptFor } from '@/contract/vocabulary'
import { STEPS } from '@/contract/withdrawal'
import { ERASURE_TIMEOUT_MS } from '../limits/durations'
import { isOneOf, type Placeholders, type Sql, statement } from '../sql'
import { addCounts } from './deletion-counts'
import { erasuresOf, type Moment } from './deletion-map'
import type { Erasure } from './steps/deletion-step'

export interface Erased {
  withdrawalId: string
  userId: string
  pseudonym: string
  /** What must be kept; empty once the retention has ended. */
  keeps: ReadonlySet<KeptFor>
}

/** A column that gives the later statements of its transaction this much time. */
export const TIME_TO_ERASE = `set_config('statement_timeout', '${ERASURE_TIMEOUT_MS}', true)`

/** The rows of each table in one transaction. Most people have fewer in all. */
export const FIRST_BATCH = 5_000
const MAX_BATCH = 40_000
const LONG_BATCH_MS = 2_000

/** Adapts the next batch to the time that the last one took, because a person may have ten million rows. */
export const nextBatch = (rows: number, tookMs: number): number =>
  tookMs > LONG_BATCH_MS ? Math.max(rows / 2, FIRST_BATCH) : Math.min(rows * 2, MAX_BATCH)

interface EraseValues {
  userId: string
  withdrawalId: string
  pseudonym: string
  keeps: KeptFor[]
  /** The maximum of rows of one table that the statement deletes. */
  maxRows: number
}

// A withdraw call that waited for the account's lock holds it while it takes a place in a limit. So the erasure takes this lock first
// too. The account may be gone.
const lockAccount = statement<{ userId: string }>(
  'lock-account-to-erase',
  (v) => `SELECT FROM users WHERE id = ${v.userId} FOR UPDATE`,
)

/**
 * Deletes what the map names for this moment, at most `maxRows` rows of each table. Copies what must be kept first. True when
 * nothing is left; running it again then finds nothing.
 */
export async function erase(sql: Sql, when: Moment, erased: Erased, maxRows: number): Promise<boolean> {
  const erasure = ERASURES.get(when)
  // In a rolling upgrade an older instance may claim a step that only newer ones know: it must not complete it.
  if (!erasure) throw new Error(`unknown deletion step ${when}`)
  const [, [answer]] = await Promise.all([
    sql(lockAccount, { userId: erased.userId }),
    sql(erasure, { ...erased, keeps: [...erased.keeps], maxRows }),
  ])
  return answer?.is_over === true
}

/**
 * Handles all tables of the moment at once: each part sees the rows as they were before, so their order does not matter. A row is
 * deleted by its key, even if it was changed meanwhile. The account is deleted last, because other rows are deleted with it. The
 * same statement writes the counts, so that a run after a crash neither misses a row nor counts one twice.
 */
function eraseAt(when: Moment) {
  const erasures = erasuresOf(when)
  const account = erasures.find(({ table }) => table === 'users')
  const many = erasures.filter((erasure) => erasure !== account)
  return statement<EraseValues, { is_over: boolean }>(
    `erase-${when}`,
    (v) => {
      const isOver = `(SELECT ${many.map((_erasure, index) => `rows_${index} < ${v.maxRows}`).join(' AND ')} FROM counted)`
      const parts = many.flatMap((erasure, index) => {
        const deleted = `deleted_${index} AS (${deleteRows(v, erasure)})`
        return erasure.kept ? [deleted, `kept_${index} AS (${keepFacts(v, erasure, `deleted_${index}`)})`] : [deleted]
      })
      const counted = many.map((_erasure, index) => `(SELECT count(*) FROM deleted_${index}) AS rows_${index}`)
      parts.push(`counted AS MATERIALIZED (SELECT ${counted.join(', ')})`)
      const counts = many.map((erasure, index) => ({
        category: erasure.category,
        outcome: outcomeOf(v, erasure),
        records: `(SELECT rows_${index} FROM counted)`,
      }))
      if (account) {
        parts.push(`account AS (DELETE FROM users WHERE id = ${v.userId} AND ${isOver} RETURNING 1)`)
        counts.push({ category: account.category, outcome: `'erased'`, records: '(SELECT count(*) FROM account)' })
      }
      parts.push(`counts AS (${addCounts(v.withdrawalId, when, counts)})`)
      return `WITH ${parts.join(', ')} SELECT ${isOver} AS is_over`
    },
    { timeoutMs: ERASURE_TIMEOUT_MS },
  )
}

/** A kept row loses all but its facts, but it counts as retained and not as erased. */
const outcomeOf = (v: Placeholders<EraseValues>, { kept }: Erasure) =>
  kept ? `CASE WHEN '${kept.for}' = ANY(${v.keeps}::text[]) THEN '${kept.for}' ELSE 'erased' END` : `'erased'`

function deleteRows(v: Placeholders<EraseValues>, { table, key = 'id', where, kept, time = 'at' }: Erasure): string {
  const rows = `user_id = ${v.userId}${where ? ` AND ${where}` : ''}`
  const keys = `SELECT ${key} FROM ${table} WHERE ${rows} LIMIT ${v.maxRows}`
  // The key may be unique only within its user.
  return `DELETE FROM ${table} WHERE user_id = ${v.userId} AND ${isOneOf(key, keys)}
     RETURNING ${kept ? ['id', ...kept.facts, time].join(', ') : '1'}`
}

function keepFacts(v: Placeholders<EraseValues>, { table, kept, time = 'at' }: Erasure, deleted: string): string {
  const facts = kept?.facts.map((column) => `'${column}', ${column}`).join(', ')
  return `INSERT INTO retained_records (id, withdrawal_id, pseudonym, source, facts, at)
     SELECT '${table}:' || id, ${v.withdrawalId}, ${v.pseudonym}, '${table}', jsonb_build_object(${facts}), ${time}
     FROM ${deleted} WHERE '${kept?.for}' = ANY(${v.keeps}::text[])
     ON CONFLICT (id) DO NOTHING`
}

const ERASURES = new Map(
  [...STEPS, 'purge' as const].filter((when) => erasuresOf(when).length > 0).map((when) => [when, eraseAt(when)]),
)
