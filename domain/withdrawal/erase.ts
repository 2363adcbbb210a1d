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

/** Deletes what the map names for this moment, after setting aside what has to stay. Running it again finds nothing left. */
export async function erase(sql: Sql, when: Step | 'purge', erased: Erased): Promise<void> {
  for (const entry of DELETION_MAP) {
    if (entry.when !== when) continue
    const owner = entry.table === 'users' ? 'id' : 'user_id'
    const rows = `${owner} = $1${entry.where ? ` AND ${entry.where}` : ''}`
    if (entry.kept && erased.keeps.has(entry.kept.for)) {
      await sql(keepStatement(entry, rows), [erased.userId, erased.withdrawalId, erased.pseudonym])
    }
    await sql(statement(`erase-${when}-${entry.table}`, `DELETE FROM ${entry.table} WHERE ${rows}`), [erased.userId])
  }
}

function keepStatement({ table, when, kept }: Erasure, rows: string) {
  const facts = (kept?.facts ?? []).map((column) => `'${column}', ${column}`).join(', ')
  return statement(
    `keep-${when}-${table}`,
    `INSERT INTO retained_records (id, withdrawal_id, pseudonym, source, facts, at)
     SELECT '${table}:' || id, $2, $3, '${table}', jsonb_build_object(${facts}), ${TIME_COLUMN[table] ?? 'at'}
     FROM ${table} WHERE ${rows}
     ON CONFLICT (id) DO NOTHING`,
  )
}
