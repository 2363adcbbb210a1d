import pg from 'pg'
import type { Sql } from '@/domain/sql'

/** A statement of one test, on a connection of the pool or inside a transaction. Its values are `$1`, `$2`, and so on. */
export const rawSql = <Row extends object = object>(sql: Sql, text: string, values: readonly unknown[] = []) =>
  sql<Record<string, unknown>, Row>(
    { name: '', text, values: values.map((_value, index) => String(index)), shapes: { values: {}, row: {} } },
    { ...values },
  )

/** Runs statements of one test on a connection of their own. */
export async function runAt(connectionString: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  for (const text of statements) await client.query(text)
  await client.end()
}
