import type { Step } from '@/contract/withdrawal'
import { type Sql, statement } from '../context'
import { DELETION_MAP, type Erasure, type KeptFor, TIME_COLUMN } from './deletion-map'

export interface Erased {
  withdrawalId: string
  userId: string
  pseudonym: string
  /** What has to stay; nothing once the retention is over. */
  keeps: ReadonlySet<KeptFor>
}

/** Somebody may have a million rows. Less than a step's lease. */
export const ERASURE_MS = 25_000
/** As a column of a statement: what follows in its transaction may take that long. */
export const TIME_TO_ERASE = `set_config('statement_timeout', '${ERASURE_MS}', true)`

/** Deletes what the map names for this moment, after setting aside what has to stay. Running it again finds nothing left. */
export async function erase(sql: Sql, when: Step | 'purge', erased: Erased): Promise<void> {
  const { userId, withdrawalId, pseudonym, keeps } = erased
  const erasure = ERASURES.get(when)
  if (erasure) await sql(erasure.text, erasure.keepsSome ? [userId, withdrawalId, pseudonym, [...keeps]] : [userId])
}

/** All tables of the moment at once: each part sees the rows as they were before, so that their order is of no matter. */
function eraseAt(when: Erasure['when']): { text: ReturnType<typeof statement>; keepsSome: boolean } {
  const entries = DELETION_MAP.filter((entry) => entry.when === when)
  const parts = entries.flatMap(({ table, where, kept }, index) => {
    const rows = `${table === 'users' ? 'id' : 'user_id'} = $1${where ? ` AND ${where}` : ''}`
    const deleted = `deleted_${index} AS (DELETE FROM ${table} WHERE ${rows})`
    return kept ? [`kept_${index} AS (${keep(table, kept, rows)})`, deleted] : [deleted]
  })
  const once = statement(`erase-${when}`, `WITH ${parts.join(', ')} SELECT`)
  return { text: { ...once, timeoutMs: ERASURE_MS }, keepsSome: entries.some(({ kept }) => kept) }
}

const keep = (table: string, { for: reason, facts }: NonNullable<Erasure['kept']>, rows: string) =>
  `INSERT INTO retained_records (id, withdrawal_id, pseudonym, source, facts, at)
   SELECT '${table}:' || id, $2, $3, '${table}',
          jsonb_build_object(${facts.map((column) => `'${column}', ${column}`).join(', ')}), ${TIME_COLUMN[table] ?? 'at'}
   FROM ${table} WHERE ${rows} AND '${reason}' = ANY($4::text[])
   ON CONFLICT (id) DO NOTHING`

const ERASURES = new Map([...new Set(DELETION_MAP.map(({ when }) => when))].map((when) => [when, eraseAt(when)]))
