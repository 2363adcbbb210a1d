/** The text of every statement that was written since the test began to note them. */
export const STATEMENT_TEXTS = new Map<string, string>()

type SqlModule = typeof import('@/domain/sql')

/** For `vi.mock('@/domain/sql', …)`: the module itself, with a `statement` that notes what it writes. */
export async function notingStatements(importOriginal: () => Promise<unknown>): Promise<SqlModule> {
  const original = (await importOriginal()) as SqlModule
  const statement = ((name, build, options) => {
    const written = original.statement(name, build, options)
    STATEMENT_TEXTS.set(name, written.text)
    return written
  }) as SqlModule['statement']
  return { ...original, statement }
}
