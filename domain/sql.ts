/** The text that stands for each value in a statement: `$1`, `$2`, … */
export type Placeholders<Values extends object> = { readonly [Name in keyof Values]-?: string }

export type NoValues = Record<never, never>

/** One prepared statement. PostgreSQL keeps its plan under `name`, so the text never changes. */
export interface Statement<Values extends object = NoValues, Row extends object = NoValues> {
  readonly name: string
  readonly text: string
  /** The names of the values, in the order of their numbers. */
  readonly values: readonly (keyof Values & string)[]
  /** How long the caller waits for the answer, where that is longer than usual. The database has its own `statement_timeout`. */
  readonly timeoutMs?: number | undefined
  /** Never set: it carries the row's type. */
  readonly row?: Row
}

/** Runs one statement, which is one transaction. Rows carry the column names of the statement. */
export type Sql = <Values extends object, Row extends object>(
  statement: Statement<Values, Row>,
  ...values: keyof Values extends never ? [] : [NoInfer<Values>]
) => Promise<Row[]>

/** Numbers each name once, where the text first uses it. */
export function statement<Values extends object = NoValues, Row extends object = NoValues>(
  name: string,
  build: (v: Placeholders<Values>) => string,
  { timeoutMs }: { timeoutMs?: number } = {},
): Statement<Values, Row> {
  const values: (keyof Values & string)[] = []
  const placeholders = new Proxy({} as Placeholders<Values>, {
    get: (_target, value) => `$${values.indexOf(value as never) + 1 || values.push(value as never)}`,
  })
  return { name, text: build(placeholders), values, timeoutMs }
}

/** The values of one call in the order of their numbers. */
export const orderedValues = <Values extends object>(
  { values }: Pick<Statement<Values>, 'values'>,
  given: Values,
): unknown[] => values.map((name) => given[name])

/**
 * As a column of a statement's rows: its commit does not wait for the disk. A crash of the database may lose it, never half of it,
 * and not where a later commit that waits has come through. See docs/decisions/0009.
 */
export const UNWAITED = `set_config('synchronous_commit', 'off', true)`

/** Stops the planner from merging the subquery into the query around it, so that it runs once for each row. */
export const fenced = (select: string) => `${select} OFFSET 0`

/** Compares as text, so that the planner cannot choose a partial index whose cost it underestimates. */
export const equalsAsText = (column: string, text: string) => `${column}::text = '${text}'`

/** Reads the keys first, so that the planner looks each row up by its index instead of joining whole tables. */
export const isOneOf = (key: string, select: string) => `${key} = ANY(ARRAY(${select}))`

/** Always true: it makes PostgreSQL finish the named part before it goes on. */
export const isDone = (part: string) => `(SELECT count(*) FROM ${part}) >= 0`
