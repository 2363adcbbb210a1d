import type { Sql } from '@/domain/sql'

/** A statement of one test, on a connection of the pool or inside a transaction. Its values are `$1`, `$2`, and so on. */
export const rawSql = <Row extends object = object>(sql: Sql, text: string, values: readonly unknown[] = []) =>
  sql<Record<string, unknown>, Row>(
    { name: '', text, values: values.map((_value, index) => String(index)), shapes: { values: {}, row: {} } },
    { ...values },
  )
