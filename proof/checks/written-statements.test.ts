import type pg from 'pg'
import { expect, test, vi } from 'vitest'
import '@/server/local/demo-account'
import '@/server/adapters/clock'
import '@/server/watch/health'
import type { Kind, Shape } from '@/domain/sql'
import { openClient } from '@/testing/database'
import { testDatabase } from '@/testing/domain'
import { STATEMENTS } from '@/testing/statements'

vi.mock('@/domain/sql', async (importOriginal) =>
  (await import('@/testing/statements')).notingStatements(importOriginal),
)

import.meta.glob(['../../domain/**/*.ts', '!**/*.test.ts'], { eager: true })

/** Columns that their table lets be null, and why the statement returns them as not null. */
const NEVER_NULL: Record<string, string> = {
  'active-external-ids.external_id': 'found by it',
  'create-access-token.subject_id': 'written by the statement',
  'due-receipts.due_at': 'asked for',
  'end-of-link.ends_at': 'asked for',
  'linked-account.email_key': 'of an account that is open',
  'list-completed-withdrawals.place': 'asked for',
  'list-processing-withdrawals.place': 'asked for',
  'list-purged-withdrawals.place': 'asked for',
  'lock-account-of-external-id.email_key': 'of an account that is open',
  'lock-account.email_key': 'of an account that is open',
  'lock-proven-account.email_key': 'of an account that is open',
  'lock-purge.user_id': 'of a withdrawal that is not purged',
  'open-deliveries-of-account.subject': 'asked for',
  'replaced-addresses.closed_at': 'asked for',
  'revoke-service-token.subject_id': 'written by the statement',
  'start-reauthentication.subject_id': 'written by the statement',
  'undeliverable-accounts.since': 'asked for',
  'untried-step.due_at': 'of a step that is open',
  'users-of-marks.ledger_mark': 'found by it',
  'withdrawals-to-ledger.user_id': 'asked for',
}

/** Statements that share the values of their family, and use some of them. */
const SHARES_VALUES = /^(count|erase|find-callers-by|resend)-/

/** Columns that a statement has for their effect. */
const UNREAD = ['set_config', 'pg_advisory_xact_lock']

interface Column {
  name: string
  type: string
  /** The column is one of a table, which lets it be null. Every writer of a list writes one, though Prisma lets it be null. */
  isNullable: boolean
}

test('every statement has the values and columns that it describes', async () => {
  const client = await openClient((await testDatabase()).url)
  const problems: string[] = []
  for (const { name, text, values, shapes } of STATEMENTS.values()) {
    // PostgreSQL cannot prepare this statement.
    if (text.startsWith('LOCK TABLE')) continue
    const said = (what: string) => problems.push(`${name}: ${what}`)
    const found = await describe(client, text).catch((error) => said(error.message))
    if (typeof found === 'number') continue
    const unused = Object.keys(shapes.values).filter((value) => !values.includes(value as never))
    if (unused.length > 0 && !SHARES_VALUES.test(name)) said(`never uses ${unused.join(', ')}`)
    for (const [index, value] of values.entries()) {
      const type = found.values[index] ?? ''
      const kind = kindOf(shapes.values, value)
      if (![...kind.columnTypes, ...kind.valueTypes].includes(type)) said(`value ${value} is ${type}`)
    }
    const columns = found.columns.filter(({ name }) => !UNREAD.includes(name))
    const names = columns.map((column) => column.name).sort()
    if (names.join() !== Object.keys(shapes.row).sort().join()) said(`returns ${names.join(', ') || 'nothing'}`)
    else {
      for (const { name: column, type, isNullable } of columns) {
        const kind = kindOf(shapes.row, column)
        if (!kind.columnTypes.includes(type)) said(`column ${column} is ${type}`)
        if (isNullable && !kind.isNullable && !(`${name}.${column}` in NEVER_NULL)) said(`column ${column} may be null`)
      }
    }
  }
  expect(problems, 'Describe the value or column as the database does. See Kind in domain/sql.ts.').toEqual([])
})

const kindOf = (shape: Shape, name: string) => shape[name] as Kind<unknown>

/** The types of a statement's values and columns, as the database describes them. */
async function describe(client: pg.Client, text: string): Promise<{ values: string[]; columns: Column[] }> {
  await client.query(`PREPARE described AS ${text}`)
  const { rows } = await client.query<{ values: string[] }>(
    `SELECT array(SELECT format_type(t, NULL) FROM unnest(parameter_types) AS t) AS values
     FROM pg_prepared_statements WHERE name = 'described'`,
  )
  await client.query('DEALLOCATE described')
  const fields = await fieldsOf(client, text)
  const columns = await client.query<Column>(
    `SELECT f.name, format_type(f.type, NULL) AS type, NOT coalesce(a.attnotnull OR a.attndims > 0, true) AS "isNullable"
     FROM unnest($1::text[], $2::oid[], $3::oid[], $4::int[]) AS f (name, type, relation, number)
     LEFT JOIN pg_attribute a ON a.attrelid = f.relation AND a.attnum = f.number AND f.number > 0`,
    [
      fields.map(({ name }) => name),
      fields.map(({ dataTypeID }) => dataTypeID),
      fields.map(({ tableID }) => tableID),
      fields.map(({ columnID }) => columnID),
    ],
  )
  return { values: rows[0]?.values ?? [], columns: columns.rows }
}

/** The columns of a statement that is parsed and not run. */
function fieldsOf(client: pg.Client, text: string): Promise<pg.FieldDef[]> {
  return new Promise((resolve, reject) => {
    let fields: pg.FieldDef[] = []
    const query = {
      submit(connection: pg.Connection) {
        connection.parse({ name: '', text, types: [] }, true)
        connection.describe({ type: 'S', name: '' }, true)
        connection.sync()
      },
      handleRowDescription(message: { fields: pg.FieldDef[] }) {
        fields = message.fields
      },
      handleReadyForQuery: () => resolve(fields),
      handleError: reject,
    }
    client.query(query as unknown as pg.Submittable)
  })
}

const [MAX_LINES, MAX_VALUES, MAX_LINE_LENGTH] = [25, 12, 140]

const EXCEPTIONS = {
  'change-app': { values: 16 },
  'claim-resend': { lines: 28 },
  'import-users': { values: 13 },
  'complete-deletion-task': { lines: 35 },
  'open-email-change': { values: 13 },
  'register-app': { values: 18 },
}

/** Put together from the deletion map, with a line for each table or column. */
const MADE_OF_LISTS = ['erase-data_archives', 'erase-user_profile', 'preview-withdrawal']

/** As many lines as an editor needs to show it. */
const linesOf = (text: string) =>
  text.split('\n').reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / MAX_LINE_LENGTH)), 0)

test('a statement has at most 25 lines and 12 values, but for the few that decision 0002 names', () => {
  const written = [...STATEMENTS.values()].filter(({ name }) => !MADE_OF_LISTS.includes(name))
  const tooLarge = written.flatMap(({ name, text, values }) => {
    const lines = linesOf(text)
    const size = { ...(lines > MAX_LINES && { lines }), ...(values.length > MAX_VALUES && { values: values.length }) }
    return Object.keys(size).length > 0 ? [[name, size] as const] : []
  })
  expect(
    Object.fromEntries(tooLarge),
    'Let the statement do one thing, in a transaction with others. If it is worth more lines, say in decision 0002 what they bring.',
  ).toEqual(EXCEPTIONS)
})
