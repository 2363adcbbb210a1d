#!/usr/bin/env node
// Prisma's native `schema-engine` protocol (JSON-RPC lines on stdio), executed by the WASM build of that engine over `pg`.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import {
  bindMigrationAwareSqlAdapterFactory,
  DriverAdapterError,
  ColumnTypeEnum as T,
} from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'

const argv = process.argv.slice(2),
  models = [],
  rest = []
let ds = {}
for (let i = 0; i < argv.length; i++) {
  if (argv[i] === '--datamodels') models.push(argv[++i])
  else if (argv[i] === '--datasource') ds = JSON.parse(argv[++i])
  else if (/^--(enabled-preview-features|extension-types)$/.test(argv[i])) i++
  else rest.push(argv[i])
}
if (rest[0] === '--version') {
  process.stdout.write('schema-engine-wasm\n')
  process.exit(0)
}

const dbName = (u) => decodeURIComponent(new URL(u).pathname.slice(1))
const schemaName = (u) => new URL(u).searchParams.get('schema') ?? 'public'
function conf(url, database = dbName(url)) {
  // discrete fields: a connectionString would override `database`
  const u = new URL(url),
    s = decodeURIComponent
  return {
    host: u.hostname,
    port: Number(u.port || 5432),
    user: s(u.username),
    password: s(u.password),
    database,
    ssl: u.searchParams.get('sslmode') === 'require' ? { rejectUnauthorized: false } : undefined,
    options: '-c timezone=UTC',
  }
}
async function once(url, database, sql) {
  const c = new pg.Client(conf(url, database))
  await c.connect()
  try {
    await c.query(sql)
  } finally {
    await c.end()
  }
}
const createDatabase = () => once(ds.url, 'postgres', `CREATE DATABASE "${dbName(ds.url).replaceAll('"', '""')}"`)

if (rest[0] === 'cli') {
  // can-connect-to-database | create-database
  try {
    await (rest[1] === 'create-database' ? createDatabase() : once(ds.url, undefined, 'SELECT 1'))
    process.exit(0)
  } catch (e) {
    const error_code = { '3D000': 'P1003', '28P01': 'P1000' }[e.code] ?? 'P1001'
    process.stderr.write(
      `\n${JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields: { error_code, message: e.message } })}`,
    )
    process.exit(1)
  }
}

const COL = {
  16: T.Boolean,
  18: T.Character,
  20: T.Int64,
  21: T.Int32,
  23: T.Int32,
  26: T.Int64,
  114: T.Json,
  700: T.Float,
  701: T.Double,
  1000: T.BooleanArray,
  1002: T.CharacterArray,
  1003: T.TextArray,
  1005: T.Int32Array,
  1007: T.Int32Array,
  1009: T.TextArray,
  1015: T.TextArray,
  1016: T.Int64Array,
  1028: T.Int64Array,
  1114: T.DateTime,
  1184: T.DateTime,
  1700: T.Numeric,
  2950: T.Uuid,
  3802: T.Json,
} // else Text
const iso = (s) => s.replace(' ', 'T').replace(/([+-]\d\d(:\d\d)?)?$/, '+00:00'),
  same = (s) => s
const PARSE = { 20: same, 26: same, 114: same, 1114: iso, 1184: iso, 1700: same, 3802: same }
const types = {
  getTypeParser: (oid, f) => (f === 'text' && PARSE[oid]) || pg.types.getTypeParser(oid === 1003 ? 1009 : oid, f),
}
const wrap = (e) =>
  e.severity
    ? new DriverAdapterError({
        kind: 'postgres',
        code: e.code,
        severity: e.severity,
        message: e.message,
        detail: e.detail,
        column: e.column,
        hint: e.hint,
        originalCode: e.code,
        originalMessage: e.message,
      })
    : e
async function connect(config, schema, onDispose) {
  const c = new pg.Client(config) // one session: advisory locks and SETs hold
  c.on('error', () => {})
  const run = (q) =>
    c.query(q).catch((e) => {
      throw wrap(e)
    })
  await c.connect().catch((e) => {
    throw wrap(e)
  })
  const q = {
    provider: 'postgres',
    adapterName: 'pg-migrate',
    async queryRaw({ sql, args }) {
      const r = await run({ text: sql, values: args, rowMode: 'array', types })
      return {
        columnNames: r.fields.map((f) => f.name),
        columnTypes: r.fields.map((f) => COL[f.dataTypeID] ?? T.Text),
        rows: r.rows,
      }
    },
    executeRaw: async ({ sql, args }) => (await run({ text: sql, values: args })).rowCount ?? 0,
    executeScript: async (s) => {
      await run(s)
    },
  } // simple protocol: whole file, one implicit transaction
  return {
    ...q,
    getConnectionInfo: () => ({ schemaName: schema, supportsRelationJoins: true }),
    startTransaction: async () => {
      await run('BEGIN')
      return { ...q, options: { usePhantomQuery: false }, commit: () => run('COMMIT'), rollback: () => run('ROLLBACK') }
    },
    dispose: async () => {
      await c.end()
      await onDispose?.()
    },
  }
}
const factory = {
  provider: 'postgres',
  adapterName: 'pg-migrate',
  connect: () => connect(conf(ds.url), schemaName(ds.url)),
  async connectToShadowDb() {
    const u = ds.shadowDatabaseUrl
    if (u) {
      await once(u, undefined, `DROP SCHEMA IF EXISTS "${schemaName(u)}" CASCADE; CREATE SCHEMA "${schemaName(u)}"`)
      return connect(conf(u), schemaName(u))
    }
    const name = `prisma_migrate_shadow_db_${randomUUID()}`
    await once(ds.url, 'postgres', `CREATE DATABASE "${name}"`)
    return connect(conf(ds.url, name), 'public', () =>
      once(ds.url, 'postgres', `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
    )
  },
}

let engine
async function getEngine() {
  if (engine) return engine
  const wasm = readFileSync(
    createRequire(import.meta.url)
      .resolve('@prisma/schema-engine-wasm/schema_engine_bg')
      .replace(/\.js$/, '.wasm'),
  )
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': glue })
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  const datamodels = models.length ? models.map((p) => [p, readFileSync(p, 'utf8')]) : undefined
  engine = await glue.SchemaEngine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(factory))
  return engine
}
const send = (m) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`)
async function call(method, params) {
  if (method === 'createDatabase') {
    await createDatabase()
    return { databaseName: dbName(ds.url) }
  }
  const r = await (await getEngine())[method === 'getDatabaseVersion' ? 'version' : method](params)
  if (method === 'diff' && r.stdout != null)
    send({ id: 1e9, method: 'print', params: { content: r.stdout.replace(/\n$/, '') } })
  return r ?? {}
}
let queue = Promise.resolve()
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (!method) return // the CLI's reply to "print"
    queue = queue
      .then(() => call(method, params))
      .then(
        (result) => send({ id, result }),
        (e) =>
          send({
            id,
            error: {
              code: 4466,
              message: 'engine error',
              data: { is_panic: false, message: e.message, error_code: e.code, meta: null },
            },
          }),
      )
  })
  .on('close', () => queue.finally(() => process.exit(0)))
