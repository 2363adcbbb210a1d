#!/usr/bin/env node
// Prisma's native `schema-engine` protocol (JSON-RPC lines on stdio), executed by the WASM build of that engine over `pg`.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum, DriverAdapterError } from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'

/** What the engine calls the type of a column, by PostgreSQL's number of it; every other type is Text. */
const COLUMN_TYPES = {
  16: ColumnTypeEnum.Boolean,
  18: ColumnTypeEnum.Character,
  20: ColumnTypeEnum.Int64,
  21: ColumnTypeEnum.Int32,
  23: ColumnTypeEnum.Int32,
  26: ColumnTypeEnum.Int64,
  114: ColumnTypeEnum.Json,
  700: ColumnTypeEnum.Float,
  701: ColumnTypeEnum.Double,
  1000: ColumnTypeEnum.BooleanArray,
  1002: ColumnTypeEnum.CharacterArray,
  1003: ColumnTypeEnum.TextArray,
  1005: ColumnTypeEnum.Int32Array,
  1007: ColumnTypeEnum.Int32Array,
  1009: ColumnTypeEnum.TextArray,
  1015: ColumnTypeEnum.TextArray,
  1016: ColumnTypeEnum.Int64Array,
  1028: ColumnTypeEnum.Int64Array,
  1114: ColumnTypeEnum.DateTime,
  1184: ColumnTypeEnum.DateTime,
  1700: ColumnTypeEnum.Numeric,
  2950: ColumnTypeEnum.Uuid,
  3802: ColumnTypeEnum.Json,
}
const [NAME_ARRAY, TEXT_ARRAY] = [1003, 1009]

const unparsed = (text) => text
const toIsoTime = (text) => text.replace(' ', 'T').replace(/([+-]\d\d(:\d\d)?)?$/, '+00:00')
/** Where the engine wants another value than `pg` makes of the text. */
const PARSERS = {
  20: unparsed,
  26: unparsed,
  114: unparsed,
  1114: toIsoTime,
  1184: toIsoTime,
  1700: unparsed,
  3802: unparsed,
}
const types = {
  getTypeParser(oid, format) {
    const own = format === 'text' ? PARSERS[oid] : undefined
    return own ?? pg.types.getTypeParser(oid === NAME_ARRAY ? TEXT_ARRAY : oid, format)
  },
}

/** The codes of Prisma by those of PostgreSQL; every other failure means that the server cannot be reached. */
const CONNECTION_ERRORS = { '3D000': 'P1003', '28P01': 'P1000' }
const UNREACHABLE = 'P1001'
/** The code of an answer whose `data` Prisma's command shows. */
const ENGINE_ERROR = 4466
/** Of our own calls to Prisma's command, which never uses it. */
const PRINT_ID = 1e9
const ADAPTER = { provider: 'postgres', adapterName: 'pg-migrate' }

const {
  values: options,
  positionals: [command, action],
} = parseArgs({
  allowPositionals: true,
  options: {
    version: { type: 'boolean' },
    datamodels: { type: 'string', multiple: true },
    datasource: { type: 'string', default: '{}' },
    'enabled-preview-features': { type: 'string' },
    'extension-types': { type: 'string' },
  },
})
const { url, shadowDatabaseUrl } = JSON.parse(options.datasource)
let engine
if (options.version) process.stdout.write('schema-engine-wasm\n')
else if (command === 'cli') process.exit(await runCommand(action))
else serveCalls()

/** `can-connect-to-database` or `create-database`; returns the exit code. */
async function runCommand(name) {
  try {
    await (name === 'create-database' ? createDatabase() : runAlone(connectionTo(url), 'SELECT 1'))
    return 0
  } catch ({ code, message }) {
    const fields = { error_code: CONNECTION_ERRORS[code] ?? UNREACHABLE, message }
    process.stderr.write(`\n${JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields })}`)
    return 1
  }
}

/** Answers the calls on standard input in their order, until it ends. */
function serveCalls() {
  let answered = Promise.resolve()
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      // Without a method it is the answer to our "print".
      if (method) answered = answered.then(() => answer(id, method, params))
    })
    .on('close', () => answered.finally(() => process.exit(0)))
}

async function answer(id, method, params) {
  try {
    send({ id, result: await call(method, params) })
  } catch ({ code, message }) {
    const data = { is_panic: false, message, error_code: code, meta: null }
    send({ id, error: { code: ENGINE_ERROR, message: 'engine error', data } })
  }
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

async function call(method, params) {
  if (method === 'createDatabase') {
    await createDatabase()
    return { databaseName: databaseOf(url) }
  }
  engine ??= await startEngine()
  const result = await engine[method === 'getDatabaseVersion' ? 'version' : method](params)
  if (method === 'diff' && result.stdout != null) {
    send({ id: PRINT_ID, method: 'print', params: { content: result.stdout.replace(/\n$/, '') } })
  }
  return result ?? {}
}

async function startEngine() {
  const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const wasm = readFileSync(script.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': bindings })
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  const datamodels = options.datamodels?.map((file) => [file, readFileSync(file, 'utf8')])
  const adapters = { ...ADAPTER, connect: () => connect(connectionTo(url), schemaOf(url)), connectToShadowDb }
  return bindings.SchemaEngine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(adapters))
}

/** The one that was given, emptied; else a database that ends with the connection. */
async function connectToShadowDb() {
  if (shadowDatabaseUrl) {
    const [connection, schema] = [connectionTo(shadowDatabaseUrl), schemaOf(shadowDatabaseUrl)]
    await runAlone(connection, `DROP SCHEMA IF EXISTS "${schema}" CASCADE; CREATE SCHEMA "${schema}"`)
    return connect(connection, schema)
  }
  const database = `prisma_migrate_shadow_db_${randomUUID()}`
  await runAlone(connectionTo(url, 'postgres'), `CREATE DATABASE "${database}"`)
  return connect(connectionTo(url, database), 'public', () =>
    runAlone(connectionTo(url, 'postgres'), `DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`),
  )
}

/** The driver adapter of one session, to which advisory locks and SETs belong. */
async function connect(connection, schemaName, afterEnd) {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  const run = (query) => client.query(query).catch(throwDriverError)
  await client.connect().catch(throwDriverError)
  const queries = {
    ...ADAPTER,
    async queryRaw({ sql, args }) {
      const { fields, rows } = await run({ text: sql, values: args, rowMode: 'array', types })
      return {
        columnNames: fields.map(({ name }) => name),
        columnTypes: fields.map(({ dataTypeID }) => COLUMN_TYPES[dataTypeID] ?? ColumnTypeEnum.Text),
        rows,
      }
    },
    executeRaw: async ({ sql, args }) => (await run({ text: sql, values: args })).rowCount ?? 0,
    // Without values, so that a file may hold many statements, which are one transaction.
    async executeScript(script) {
      await run(script)
    },
  }
  return {
    ...queries,
    getConnectionInfo: () => ({ schemaName, supportsRelationJoins: true }),
    async startTransaction() {
      await run('BEGIN')
      return {
        ...queries,
        options: { usePhantomQuery: false },
        commit: () => run('COMMIT'),
        rollback: () => run('ROLLBACK'),
      }
    },
    async dispose() {
      await client.end()
      await afterEnd?.()
    },
  }
}

/** What PostgreSQL refuses becomes an error of the adapter. */
function throwDriverError(error) {
  if (!error.severity) throw error
  const { code, severity, message, detail, column, hint } = error
  const original = { originalCode: code, originalMessage: message }
  throw new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, column, hint, ...original })
}

function createDatabase() {
  return runAlone(connectionTo(url, 'postgres'), `CREATE DATABASE "${databaseOf(url).replaceAll('"', '""')}"`)
}

/** Runs statements on a connection of their own. */
async function runAlone(connection, sql) {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** In single fields, because the database of a `connectionString` would win over `database`. */
function connectionTo(address, database = databaseOf(address)) {
  const { hostname, port, username, password, searchParams } = new URL(address)
  return {
    host: hostname,
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database,
    ssl: searchParams.get('sslmode') === 'require' ? { rejectUnauthorized: false } : undefined,
    options: '-c timezone=UTC',
  }
}

function databaseOf(address) {
  return decodeURIComponent(new URL(address).pathname.slice(1))
}

function schemaOf(address) {
  return new URL(address).searchParams.get('schema') ?? 'public'
}
