import { type Described, integer, type Part, type Shape, sql, text, time } from '../sql'

/** Cursor: the last row of the previous batch. */
export const AFTER = { afterTime: time, afterId: text, maxRows: integer } satisfies Shape
export type After = Described<typeof AFTER>

/** In the WHERE of a statement that is ordered by `time` and id. */
export const isAfter = (v: { afterTime: Part; afterId: Part }, at: Part) =>
  sql`(${at}, id) > (${v.afterTime}::timestamptz, ${v.afterId})`

/**
 * Works off all due rows, in batches. A row that fails is stepped over until the next run, so that it never holds up those behind it;
 * then all failures are thrown together. `rows` is the word for them in the log.
 */
export async function eachDue<Row extends { id: string; due_at: Date }>(
  { rows: what, maxRows }: { rows: string; maxRows: number },
  read: (after: After) => Promise<Row[]>,
  work: (row: Row) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = []
  const after = { afterTime: new Date(0), afterId: '', maxRows }
  for (let isFull = true; isFull; ) {
    const rows = await read(after)
    for (const row of rows) await work(row).catch((error) => failures.push(error))
    const last = rows.at(-1)
    if (last) Object.assign(after, { afterTime: last.due_at, afterId: last.id })
    isFull = rows.length === maxRows
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} ${what} failed`)
}
