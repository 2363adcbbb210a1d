import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import '@/server/local/demo-account'
import '@/server/adapters/clock'
import '@/server/watch/health'
import type { Kind, Shape } from '@/domain/sql'
import { testDatabase } from '@/testing/domain'
import { STATEMENTS } from '@/testing/statements'

vi.mock('@/domain/sql', async (importOriginal) =>
  (await import('@/testing/statements')).notingStatements(importOriginal),
)

import.meta.glob(['../../domain/**/*.ts', '!**/*.test.ts'], { eager: true })

/** Columns that their table lets be null, and why the statement returns them as not null. */
const NEVER_NULL: Record<string, string> = {}

/** Settings of the transaction ride along as columns that nobody reads. */
const IS_UNREAD = 'set_config'

interface Column {
  name: string
  type: string
  /** The column is one of a table, which lets it be null. */
  isNullable: boolean
}

test('every statement has the values and columns that it describes', async () => {
  const { url } = await testDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const problems: string[] = []
  for (const { name, text, values, shapes } of STATEMENTS.values()) {
    if (!shapes) continue
    const found = await describe(client, text)
    const said = (what: string) => problems.push(`${name}: ${what}`)
    const unused = Object.keys(shapes.values).filter((value) => !values.includes(value as never))
    if (unused.length > 0) said(`never uses ${unused.join(', ')}`)
    for (const [index, value] of values.entries()) {
      const type = found.values[index] ?? ''
      const kind = kindOf(shapes.values, value)
      if (![...kind.columnTypes, ...kind.valueTypes].includes(type)) said(`value ${value} is ${type}`)
    }
    const columns = found.columns.filter((column) => column.name !== IS_UNREAD)
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

/** What the database says of a statement's values and columns. */
async function describe(client: pg.Client, text: string): Promise<{ values: string[]; columns: Column[] }> {
  await client.query(`PREPARE described AS ${text}`)
  const { rows } = await client.query<{ values: string[] }>(
    `SELECT array(SELECT format_type(t, NULL) FROM unnest(parameter_types) AS t) AS values
     FROM pg_prepared_statements WHERE name = 'described'`,
  )
  await client.query('DEALLOCATE described')
  const fields = await fieldsOf(client, text)
  const columns = await client.query<Column>(
    `SELECT f.name, format_type(f.type, NULL) AS type, NOT coalesce(a.attnotnull, true) AS "isNullable"
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
