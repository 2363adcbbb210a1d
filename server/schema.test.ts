import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createDatabase, openClient } from '@/testing/database'

/** Indexes on an expression, of which the schema cannot speak. */
const BY_MIGRATION_ALONE = ['access_tokens_ended', 'sessions_ended', 'users_foreign_hashes']

const TYPES: Record<string, string> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Boolean: 'boolean',
  Bytes: 'bytea',
  Json: 'jsonb',
  'DateTime @db.Timestamptz(3)': 'timestamp(3) with time zone',
}

interface Field {
  name: string
  column: string
  type: string
  mark: string
  attributes: string
}

interface Block {
  kind: string
  name: string
  /** Of its table or type. */
  mapped: string
  fields: Field[]
  /** What begins with @@. */
  rules: string[]
}

const mapOf = (text: string, otherwise: string) => /@map\("([^"]+)"\)/.exec(text)?.[1] ?? otherwise

function blocksOf(schema: string): Block[] {
  return [...schema.matchAll(/^(model|enum) (\w+) \{\n(.*?)^\}/gms)].map(([, kind = '', name = '', body = '']) => {
    const lines = body.split('\n').map((line) => line.trim())
    const rules = lines.filter((line) => line.startsWith('@@'))
    const fields = lines.flatMap((line): Field[] => {
      const [, field = '', type = '', mark = '', attributes = ''] = /^(\w+)(?: +(\w+)(\?|\[\])?(.*))?$/.exec(line) ?? []
      return field ? [{ name: field, column: mapOf(attributes, field), type, mark, attributes }] : []
    })
    return { kind, name, mapped: mapOf(rules.find((rule) => rule.startsWith('@@map')) ?? '', name), fields, rules }
  })
}

/** The database writes a predicate with brackets and casts of its own. */
const bare = (predicate: string) => predicate.replaceAll(/::\w+(?:\[\])?|[()\s]/g, '')

/** Every fact of the schema as a line, in the words of the database. */
function factsOf(blocks: Block[]): string[] {
  const blockOf = (name: string) => blocks.find((block) => block.name === name)
  return blocks.flatMap(({ kind, mapped: table, fields, rules }) => {
    if (kind === 'enum') return fields.map(({ name }) => `${table} has the value ${name}`)
    const columnsOf = (names = '', of = fields) =>
      names.split(', ').map((name) => of.find((field) => field.name === name)?.column ?? `(no ${name})`)
    const columns = fields.flatMap(({ column, type, mark, attributes }) => {
      const target = blockOf(type)
      if (target?.kind === 'model') return []
      const [native = ''] = /@db\.\S+/.exec(attributes) ?? []
      const base = target?.mapped ?? TYPES[`${type} ${native}`.trim()] ?? `(unknown ${type} ${native})`
      // Prisma leaves the column of a list nullable.
      return [`${table}.${column} is ${base}${{ '[]': '[]', '?': '', '': ' not null' }[mark]}`]
    })
    const ofFields = fields.flatMap(({ column, attributes }) => [
      ...(/@id\b/.test(attributes) ? [`${table}_pkey is the key of ${table} (${column})`] : []),
      ...(/@unique\b/.test(attributes) ? [`${table}_${column}_key is unique on ${table} (${column})`] : []),
    ])
    const ofRules = rules.flatMap((rule) => {
      const [, kind = '', names] = /^@@(id|unique|index)\(\[([\w, ]+)\]/.exec(rule) ?? []
      if (!kind) return []
      const on = columnsOf(names)
      const name = /map: "(\w+)"/.exec(rule)?.[1] ?? `${[table, ...on].join('_')}_${kind === 'unique' ? 'key' : 'idx'}`
      const where = /where: raw\("(.*?)"\)/.exec(rule)?.[1]
      const rest = `${table} (${on.join(', ')})${where ? ` where ${bare(where)}` : ''}`
      return kind === 'id' ? [`${table}_pkey is the key of ${rest}`] : [`${name} is ${kind} on ${rest}`]
    })
    const relations = fields.flatMap(({ type, attributes }) => {
      const [, from, to, action] =
        /@relation\(fields: \[(.+?)\], references: \[(.+?)\], onDelete: (\w+)/.exec(attributes) ?? []
      const target = blockOf(type)
      if (!from || !target) return []
      const there = columnsOf(to, target.fields).join(', ')
      return [`${table} (${columnsOf(from).join(', ')}) refers to ${target.mapped} (${there}), ${action}`]
    })
    return [...columns, ...ofFields, ...ofRules, ...relations]
  })
}

/** Of the table in which Prisma keeps what it applied nothing is said. */
const OURS = `n.relnamespace = 'public'::regnamespace AND n.relname <> '_prisma_migrations'`
const COLUMNS = (numbers: string, of: string) =>
  `(SELECT string_agg(a.attname, ', ' ORDER BY place) FROM unnest(${numbers}) WITH ORDINALITY AS k(number, place)
    JOIN pg_attribute a ON a.attrelid = ${of} AND a.attnum = k.number)`
const QUERIES = [
  `SELECT format('%s.%s is %s%s', n.relname, a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' not null' END) AS fact
   FROM pg_attribute a JOIN pg_class n ON n.oid = a.attrelid
   WHERE ${OURS} AND n.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped`,
  `SELECT format('%s has the value %s', t.typname, e.enumlabel) AS fact FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid`,
  `SELECT format('%s is %s %s (%s)%s', x.relname,
            CASE WHEN i.indisprimary THEN 'the key of' WHEN i.indisunique THEN 'unique on' ELSE 'index on' END, n.relname,
            ${COLUMNS('i.indkey::smallint[]', 'n.oid')},
            ' where ' || pg_get_expr(i.indpred, i.indrelid)) AS fact
   FROM pg_index i JOIN pg_class n ON n.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
   WHERE ${OURS} AND i.indexprs IS NULL`,
  `SELECT format('%s (%s) refers to %s (%s), %s', n.relname, ${COLUMNS('c.conkey', 'c.conrelid')}, c.confrelid::regclass,
            ${COLUMNS('c.confkey', 'c.confrelid')},
            CASE c.confdeltype WHEN 'c' THEN 'Cascade' WHEN 'r' THEN 'Restrict' ELSE c.confdeltype::text END) AS fact
   FROM pg_constraint c JOIN pg_class n ON n.oid = c.conrelid WHERE ${OURS} AND c.contype = 'f'`,
]

const schema = readFileSync('prisma/schema.prisma', 'utf8')

test('F66 a migrated database has every table, column, type, index and reference of schema.prisma, and no other', async () => {
  const client = await openClient(await createDatabase())
  const found: string[] = []
  for (const query of QUERIES)
    found.push(...(await client.query(query)).rows.map(({ fact }) => fact.replace(/(?<= where ).*/, bare)))
  const described = factsOf(blocksOf(schema))
  expect(described.length).toBeGreaterThan(400)
  expect(found.toSorted()).toEqual(described.toSorted())
  const { rows } = await client.query(
    `SELECT x.relname AS name FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class n ON n.oid = i.indrelid
     WHERE ${OURS} AND i.indexprs IS NOT NULL ORDER BY 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual(BY_MIGRATION_ALONE)
})

test('the comparison reads every kind of line that the schema has', () => {
  const facts = factsOf(blocksOf(schema.replace('version           Int       @default(0)', 'version String?')))
  expect(facts).toContain('users.version is text')
  expect(facts).toContain('email_change_status has the value reverted')
  expect(facts).toContain('users_external_id_active is unique on users (external_id) where withdrawn_atISNULL')
  expect(facts).toContain('sessions (user_id) refers to users (id), Cascade')
  expect(facts.filter((fact) => /\((?:no|unknown) /.test(fact))).toEqual([])
})
