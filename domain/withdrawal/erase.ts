import type { Step } from '@/contract/withdrawal'
import { type Sql, statement } from '../context'
import { DELETION_MAP, type Erasure, KEY_COLUMN, type KeptFor, TIME_COLUMN } from './deletion-map'

export interface Erased {
  withdrawalId: string
  userId: string
  pseudonym: string
  /** What has to stay; nothing once the retention is over. */
  keeps: ReadonlySet<KeptFor>
}

/** A batch takes a second or two; on a slow disk it may take longer. Less than a step's lease. */
export const ERASURE_MS = 25_000
/** As a column of a statement: what follows in its transaction may take that long. */
export const TIME_TO_ERASE = `set_config('statement_timeout', '${ERASURE_MS}', true)`

/** The rows of each table that one transaction deletes. Most people have fewer altogether. */
export const FIRST_BATCH = 5_000
const MAX_BATCH = 40_000
const LONG_BATCH_MS = 2_000

/** The rows of the next batch, after one that took so long: somebody may have ten million. */
export const nextBatch = (rows: number, tookMs: number): number =>
  tookMs > LONG_BATCH_MS ? Math.max(rows / 2, FIRST_BATCH) : Math.min(rows * 2, MAX_BATCH)

/**
 * Deletes what the map names for this moment, so many rows of each table at most, after setting aside what has to stay. Answers
 * whether nothing is left; running it again then finds nothing.
 */
export async function erase(sql: Sql, when: Step | 'purge', erased: Erased, rows: number): Promise<boolean> {
  const { userId, withdrawalId, pseudonym, keeps } = erased
  const erasure = ERASURES.get(when)
  if (!erasure) return true
  const kept = erasure.keepsSome ? [withdrawalId, pseudonym, [...keeps]] : []
  const [answer] = await sql<{ is_over: boolean }>(erasure.text, [userId, rows, ...kept])
  return answer?.is_over === true
}

/**
 * All tables of the moment at once: each part sees the rows as they were before, so that their order is of no matter. A row is
 * deleted by its key, also where somebody has changed it meanwhile. The account itself goes last: other rows go with it.
 */
function eraseAt(when: Erasure['when']): { text: ReturnType<typeof statement>; keepsSome: boolean } {
  const entries = DELETION_MAP.filter((entry) => entry.when === when)
  const many = entries.filter(({ table }) => table !== 'users')
  const isOver = many.map((_entry, index) => `(SELECT count(*) FROM deleted_${index}) < $2`).join(' AND ')
  const parts = many.flatMap(({ table, where, kept }, index) => {
    const key = KEY_COLUMN[table] ?? 'id'
    const rows = `user_id = $1${where ? ` AND ${where}` : ''}`
    // Of a key that is unique for its user alone, the user is the first part.
    const of = table === 'preferences' ? 'user_id = $1 AND ' : ''
    const returned = kept ? ['id', ...kept.facts, timeOf(table)].join(', ') : '1'
    const deleted = `deleted_${index} AS (
      DELETE FROM ${table} WHERE ${of}${key} = ANY(ARRAY(SELECT ${key} FROM ${table} WHERE ${rows} LIMIT $2)) RETURNING ${returned})`
    return kept ? [deleted, `kept_${index} AS (${keep(table, kept, `deleted_${index}`)})`] : [deleted]
  })
  if (many.length < entries.length) parts.push(`account AS (DELETE FROM users WHERE id = $1 AND ${isOver})`)
  const text = statement(`erase-${when}`, `WITH ${parts.join(', ')} SELECT ${isOver} AS is_over`)
  return { text: { ...text, timeoutMs: ERASURE_MS }, keepsSome: entries.some(({ kept }) => kept) }
}

const keep = (table: string, { for: reason, facts }: NonNullable<Erasure['kept']>, deleted: string) =>
  `INSERT INTO retained_records (id, withdrawal_id, pseudonym, source, facts, at)
   SELECT '${table}:' || id, $3, $4, '${table}',
          jsonb_build_object(${facts.map((column) => `'${column}', ${column}`).join(', ')}), ${timeOf(table)}
   FROM ${deleted} WHERE '${reason}' = ANY($5::text[])
   ON CONFLICT (id) DO NOTHING`

const timeOf = (table: string) => TIME_COLUMN[table] ?? 'at'

const ERASURES = new Map([...new Set(DELETION_MAP.map(({ when }) => when))].map((when) => [when, eraseAt(when)]))
