import { MAX_COUNTED } from '@/contract/operator'
import type { SystemContext } from './context'
import { integer, type Part, type Placeholders, type Shape, type Statement, sql, statement } from './sql'

/** A count for operators: MAX_COUNTED + 1 means any higher number, null that it could not be read. */
export type Figure = number | null

/** Counts these rows, and reads no more of them than it counts. */
export const cappedCount = <const Values extends Shape>(
  name: string,
  values: Values,
  rows: (v: Placeholders<Values>) => Part,
) =>
  statement(
    name,
    values,
    { count: integer },
    (v) => sql`SELECT count(*)::int AS count FROM (SELECT ${rows(v)} LIMIT ${MAX_COUNTED + 1}) AS counted`,
  )

/** Reads each figure by itself, so that one that takes too long leaves the others. */
export async function readFigures<Values extends object, const Name extends string>(
  ctx: SystemContext,
  figures: Record<Name, Statement<Values, { count: number }>>,
  values: Values,
): Promise<Record<Name, Figure>> {
  const unread: string[] = []
  const read = async ([name, of]: [string, Statement<Values, { count: number }>]) => {
    const rows = await ctx.sql(of, values).catch(() => unread.push(name))
    return [name, typeof rows === 'number' ? null : (rows[0]?.count ?? 0)] as const
  }
  const all = await Promise.all(Object.entries<Statement<Values, { count: number }>>(figures).map(read))
  if (unread.length > 0) ctx.warn('figures_unknown', { figures: unread.join(' ') })
  return Object.fromEntries(all) as Record<Name, Figure>
}

/** A part of a page; null if it cannot be read, which leaves the other parts. */
export async function orUnread<Part>(ctx: SystemContext, name: string, reading: Promise<Part>): Promise<Part | null> {
  return reading.catch(() => {
    ctx.warn('figures_unknown', { figures: name })
    return null
  })
}
