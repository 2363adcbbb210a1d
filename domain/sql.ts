import type { AuditAction } from './audit-actions'

declare const writtenHere: unique symbol

/** SQL text that the code has written: a piece of a statement, or the placeholder of a value. A plain text does not compile in its place. */
export type Part = string & { readonly [writtenHere]: true }

/** Joins parts. What a request sends is no part, and must be a value of its statement. */
export const sql = (texts: TemplateStringsArray, ...parts: readonly (Part | number)[]): Part =>
  String.raw({ raw: texts }, ...parts) as Part

/** A text constant. A text that is known only when the program runs does not compile. */
export const literal = <const Text extends string>(text: string extends Text ? never : Text): Part =>
  `'${text.replaceAll("'", "''")}'` as Part

/** The name of a table or a column from a list in the code. */
export function identifier(name: string): Part {
  if (!/^[a-z][a-zA-Z_]*$/.test(name)) throw new Error(`${name} is no name of a table or column`)
  return name as Part
}

export const joined = (parts: readonly Part[], separator: Part = sql`, `): Part => parts.join(separator) as Part

export const NOTHING = sql``
export const NULL = sql`NULL`

declare const typed: unique symbol

/** What a value or a column is in PostgreSQL and in TypeScript. */
export interface Kind<Type> {
  readonly [typed]: Type
  /** The types of PostgreSQL that a column of this kind has; a value may have them too. */
  readonly columnTypes: readonly string[]
  /** Further types that a value of this kind may have. */
  readonly valueTypes: readonly string[]
  readonly isNullable: boolean
  /** Whether what the driver returned for a column is of this kind. */
  fits(value: unknown): boolean
  readonly orNull: Kind<Type | null>
  readonly list: Kind<Type[]>
  /** A column of an outer join: null only where that has no row, which another column tells. */
  readonly whenJoined: Kind<Type>
  /** A narrower type, such as the words that a column may hold. */
  of<Narrow extends Type>(): Kind<Narrow>
}

type KindFacts = Pick<Kind<unknown>, 'columnTypes' | 'fits'> & Partial<Pick<Kind<unknown>, 'valueTypes' | 'isNullable'>>

function kind<Type>({ columnTypes, valueTypes = [], isNullable = false, fits }: KindFacts): Kind<Type> {
  const facts = { columnTypes, valueTypes, isNullable, fits }
  const many = (types: readonly string[]) => types.map((type) => `${type}[]`)
  const described: Omit<Kind<unknown>, typeof typed> = {
    ...facts,
    get orNull() {
      return kind<Type | null>({ ...facts, isNullable: true, fits: (value) => value === null || fits(value) })
    },
    get whenJoined() {
      return this.orNull
    },
    get list() {
      return kind<Type[]>({
        columnTypes: many(columnTypes),
        valueTypes: many(valueTypes),
        fits: (value) => Array.isArray(value) && value.every(fits),
      })
    },
    of: () => described as never,
  }
  return described as unknown as Kind<Type>
}

export const text = kind<string>({
  columnTypes: ['text', 'character varying', 'email_change_status'],
  // JSON is bound as a text.
  valueTypes: ['jsonb'],
  fits: (value) => typeof value === 'string',
})
export const integer = kind<number>({
  columnTypes: ['integer', 'smallint'],
  valueTypes: ['bigint', 'double precision'],
  fits: (value) => Number.isInteger(value),
})
export const real = kind<number>({ columnTypes: ['double precision'], fits: (value) => typeof value === 'number' })
/** The driver returns it as a text. */
export const bigint = kind<string>({ columnTypes: ['bigint'], fits: (value) => typeof value === 'string' })
export const boolean = kind<boolean>({ columnTypes: ['boolean'], fits: (value) => typeof value === 'boolean' })
export const time = kind<Date>({ columnTypes: ['timestamp with time zone'], fits: (value) => value instanceof Date })
export const bytes = kind<Buffer>({ columnTypes: ['bytea'], fits: (value) => value instanceof Uint8Array })
export const json = kind<unknown>({ columnTypes: ['jsonb', 'json'], fits: (value) => value !== null })

/** The kind of each value or column by its name. */
export type Shape = Readonly<Record<string, Kind<unknown>>>
/** What a shape describes: the values of a call, or a row. */
export type Described<Of extends Shape> = { [Name in keyof Of]: Of[Name][typeof typed] }

/** The placeholder of each value while a statement is put together; it becomes `$1`, `$2`, … */
export type Placeholders<Values extends object> = { readonly [Name in keyof Values]-?: Part }

/** One prepared statement. PostgreSQL keeps its plan under `name`, so the text never changes. */
export interface Statement<Values extends object, Row extends object> {
  readonly name: string
  readonly text: string
  /** The names of the values, in the order of their numbers. */
  readonly values: readonly (keyof Values & string)[]
  /** A test compares both with what the database says of the statement. */
  readonly shapes: { readonly values: Shape; readonly row: Shape }
  /** How long the caller waits for the answer, if longer than usual. The database has its own `statement_timeout`. */
  readonly timeoutMs?: number | undefined
  /** Never set: it carries the row's type. */
  readonly row?: Row
}

/** The row of a statement. */
export type RowOf<Of> = Of extends Statement<infer _Values, infer Row> ? Row : never
/** The values of a statement. */
export type ValuesOf<Of> = Of extends Statement<infer Values, infer _Row> ? Values : never

/** Runs one statement, which is one transaction. Rows carry the column names of the statement. */
export type Sql = <Values extends object, Row extends object>(
  statement: Statement<Values, Row>,
  values: NoInfer<Values>,
) => Promise<Row[]>

/**
 * Describes its values and its row, from which their types follow. `build` puts the text together when the module loads; each value is
 * numbered where the text first uses it.
 */
export function statement<const Values extends Shape, const Row extends Shape>(
  name: string,
  values: Values,
  row: Row,
  build: (v: Placeholders<Values>) => Part,
  { timeoutMs }: { timeoutMs?: number } = {},
): Statement<Described<Values>, Described<Row>> {
  const names: (keyof Values & string)[] = []
  const marks = new Proxy({} as Placeholders<Values>, {
    get: (_target, value) => `{{${String(value)}}}`,
  })
  const text = build(marks).replaceAll(/\{\{(\w+)\}\}/g, (_mark, value) => {
    return `$${names.indexOf(value) + 1 || names.push(value)}`
  })
  return { name, text, values: names, shapes: { values, row }, timeoutMs }
}

/** The values of one call in the order of their numbers. */
export const orderedValues = <Values extends object>(
  { values }: Pick<Statement<Values, object>, 'values'>,
  given: Values,
): unknown[] => values.map((name) => given[name])

/** Whether the database itself reported the error: then the statement had no effect. After a lost connection that is unknown. */
export const isUndone = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR'

/** PostgreSQL's unique_violation on the named constraint or index. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  error instanceof Error &&
  'constraint' in error &&
  'code' in error &&
  error.code === '23505' &&
  error.constraint === constraint

/**
 * A column that lets the commit return before it is on disk. A crash of the database may lose the whole transaction, unless a later
 * commit that waits has succeeded. See docs/decisions/0009.
 */
export const UNWAITED = sql`set_config('synchronous_commit', 'off', true)`

/** Stops the planner from merging the subquery into the query around it, so that it runs once for each row. */
export const fenced = (select: Part) => sql`${select} OFFSET 0`

/**
 * Joins the pending change `p` of `user`. With a plain join the planner may read all pending changes, because it underestimates
 * their number.
 */
export const lookUpPending = (user: Part) =>
  sql`LEFT JOIN LATERAL (${fenced(
    sql`SELECT * FROM email_change_requests r WHERE r.user_id = ${user} AND r.status = 'pending_verification'`,
  )}) AS p ON true`

/** Compares as text, so that the planner cannot choose a partial index whose cost it underestimates. */
export const equalsAsText = (column: Part, text: Part) => sql`${column}::text = ${text}`

/** Reads the keys first, so that the planner looks each row up by its index instead of joining whole tables. */
export const isOneOf = (key: Part, select: Part) => sql`${key} = ANY(ARRAY(${select}))`

interface AuditRow {
  from: Part
  id: Part
  user: Part
  actor: Part
  actorId?: Part
  subject?: Part
  ip?: Part
  at: Part
}

/**
 * The audit row of what the part `from` did; every member is a column of the part, or a value. Only for what has to be one statement;
 * everything else calls `addAudit`.
 */
export const audit = (action: AuditAction, of: AuditRow) =>
  sql`INSERT INTO audit_events (id, user_id, action, actor, actor_id, subject_id, ip, at)
   SELECT ${of.id}, ${of.user}, ${literal(action as 'email.changed')}, ${of.actor}, ${of.actorId ?? NULL}, ${of.subject ?? NULL}, ${of.ip ?? NULL}, ${of.at}::timestamptz
   FROM ${of.from}`

/**
 * In the SET of a row of `users`, for every change that applications may be told of: an application ignores an event whose version is
 * older than one that it has seen.
 */
export const RAISE_VERSION = sql`version = version + 1`

/** Ends the browser sessions of `user`, all but the one in `except`. */
export const endSessions = (of: { user: Part; except?: Part; at: Part }) =>
  sql`UPDATE sessions s SET revoked_at = ${of.at}
   WHERE s.user_id = ${of.user} AND s.revoked_at IS NULL ${of.except ? sql`AND s.id <> ${of.except}` : NOTHING}`

/** Ends the access tokens of `user`. */
export const endTokens = (of: { user: Part; at: Part }) =>
  sql`UPDATE access_tokens t SET revoked_at = ${of.at}
   WHERE t.user_id = ${of.user} AND t.revoked_at IS NULL`

/** Closes the pending change of `user`, a value: joined with a part, the planner would read all changes that are pending. */
export const closePendingChange = (status: 'superseded' | 'cancelled', of: { user: Part; at: Part }) =>
  sql`UPDATE email_change_requests r SET status = ${literal(status)}, closed_at = ${of.at}
   WHERE r.user_id = ${of.user} AND r.status = 'pending_verification'`

/**
 * The account that a statement writes rows for, and its name. The lock makes a withdrawal that starts meanwhile wait and then see
 * the rows. If the withdrawal was first, there is no account.
 */
export const openAccount = (userId: Part) =>
  sql`SELECT id, name FROM users WHERE id = ${userId} AND withdrawn_at IS NULL FOR SHARE`
