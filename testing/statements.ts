import type { SystemContext, Transact } from '@/domain/context'
import type { Sql, Statement } from '@/domain/sql'

/** Every statement that was written since the test began to note them, by its name. */
export const STATEMENTS = new Map<string, Statement<object, object>>()

type SqlModule = typeof import('@/domain/sql')

/** For `vi.mock('@/domain/sql', …)`: the module itself, with a `statement` that notes what it writes. */
export async function notingStatements(importOriginal: () => Promise<unknown>): Promise<SqlModule> {
  const original = (await importOriginal()) as SqlModule
  const statement = (...of: Parameters<SqlModule['statement']>) => {
    const written: Statement<object, object> = original.statement(...of) as never
    STATEMENTS.set(written.name, written)
    return written
  }
  return { ...original, statement: statement as SqlModule['statement'] }
}

/** Throws if a row differs from its description, because the database cannot tell beforehand which columns may be null. */
export const checkingRows =
  (run: Sql): Sql =>
  async (statement, values) => {
    const rows = await run(statement, values)
    for (const [column, kind] of Object.entries(statement.shapes.row)) {
      const odd = rows.find((row) => !kind.fits((row as Record<string, unknown>)[column]))
      if (odd) throw new Error(`${statement.name} returned a ${column} that is not as it describes it`)
    }
    return rows
  }

/** The context in which `around` runs the statement of this name, inside transactions too. */
export function atStatement<Ctx extends SystemContext>(
  ctx: Ctx,
  name: string,
  around: (run: () => Promise<object[]>, values: object) => Promise<object[]>,
): Ctx {
  const wrap =
    (sql: Sql): Sql =>
    (statement, values) => {
      const run = () => sql(statement, values)
      return statement.name === name ? (around(run, values) as ReturnType<typeof run>) : run()
    }
  return { ...ctx, sql: wrap(ctx.sql), transact: wrapping(ctx.transact, wrap) }
}

/** `transact` with an `sql` that `wrap` has wrapped. */
export const wrapping =
  (transact: Transact, wrap: (sql: Sql) => Sql): Transact =>
  (work) =>
    transact((sql, afterCommit) => work(wrap(sql), afterCommit))
