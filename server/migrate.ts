import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
// With its extension, because scripts/dev.ts has Node load this file without a bundler.
import { checkSession, openSession } from './adapters/database-session.ts'

// The advisory lock of Prisma's own engine, so that `prisma migrate` and starting instances wait for each other.
const PRISMA_LOCK = 72707369
const LOCK_PAUSE_MS = 100
/** How long a database may take to answer at all. */
const CONNECT_MS = 10_000
/** How long a migration waits for a table lock. It is short, because all later statements on the table wait behind it. */
const TABLE_LOCK_MS = 1_000
const MAX_TABLE_PAUSE_MS = 5_000
/** How long the start retries a migration before it gives up. */
const MIGRATION_TIMEOUT_MS = 5 * 60_000
/** How often a start that waits says so. */
const WAITING_INTERVAL_MS = 5_000

interface Options {
  timeoutMs?: number
  waitingIntervalMs?: number
  /** Told again and again while the start waits: for another start that migrates, or for this migration and the tables it needs. */
  onWaiting?(waitsFor: { event: 'migrations_locked' } | { event: 'migration_runs'; migration: string }): void
}

interface Migration {
  name: string
  sql: string
  checksum: string
}

/**
 * Applies the same migrations as `prisma migrate deploy` and keeps the same records. Returns the names of the applied migrations.
 * It can be killed at any point, because a migration and its record are one transaction.
 */
export async function migrateDeploy(
  connectionString: string,
  directory = 'prisma/migrations',
  { timeoutMs = MIGRATION_TIMEOUT_MS, waitingIntervalMs = WAITING_INTERVAL_MS, onWaiting = () => {} }: Options = {},
): Promise<string[]> {
  const db = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_MS })
  // The next query reports the loss of the connection.
  db.on('error', () => {})
  const applied: string[] = []
  await db.connect()
  let running: string | undefined
  const timer = setInterval(
    () => onWaiting(running ? { event: 'migration_runs', migration: running } : { event: 'migrations_locked' }),
    waitingIntervalMs,
  )
  try {
    await openSession(db, { statement_timeout: 0, idle_in_transaction_session_timeout: 0 })
    await checkSession(db, connectionString)
    await lockMigrations(db)
    const finished = await readFinished(db)
    for (const name of await migrationNames(directory)) {
      if (finished.has(name)) continue
      const sql = await readFile(`${directory}/${name}/migration.sql`, 'utf8')
      const migration = { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
      running = name
      await applyOne(db, migration, timeoutMs).catch((error) => {
        throw new Error(`Migration ${name} failed: ${explain(error)}`, { cause: error })
      })
      applied.push(name)
    }
  } finally {
    clearInterval(timer)
    await db.end()
  }
  return applied
}

/** Polls for the lock, because a waiting statement would delay an index that is built concurrently. */
async function lockMigrations(db: pg.Client) {
  for (;;) {
    const { rows } = await db.query(`SELECT pg_try_advisory_lock(${PRISMA_LOCK}) AS locked`)
    if (rows[0].locked) return
    await sleep(LOCK_PAUSE_MS)
  }
}

/** Prisma writes a record before it runs a file. One that never ended stops the start, because nobody knows what its file has done. */
async function readFinished(db: pg.Client): Promise<Set<string>> {
  const { rows: tables } = await db.query<{ exists: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  )
  // Created only where it is missing, so that a role without CREATE can start on an up-to-date database.
  if (!tables[0]?.exists)
    await db.query(`CREATE TABLE _prisma_migrations (
      id VARCHAR(36) PRIMARY KEY NOT NULL,
      checksum VARCHAR(64) NOT NULL,
      finished_at TIMESTAMPTZ,
      migration_name VARCHAR(255) NOT NULL,
      logs TEXT,
      rolled_back_at TIMESTAMPTZ,
      started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
      applied_steps_count INTEGER NOT NULL DEFAULT 0
    )`)
  const { rows } = await db.query<{ name: string; finished: boolean }>(
    `SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  )
  const finished = new Set(rows.flatMap(({ name, finished }) => (finished ? [name] : [])))
  const open = rows.find(({ name }) => !finished.has(name))
  if (open) {
    throw new Error(
      `Migration ${open.name} was begun and never ended: make the schema whole, and record that with "prisma migrate resolve".`,
    )
  }
  return finished
}

async function migrationNames(directory: string) {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

async function applyOne(db: pg.Client, migration: Migration, timeoutMs: number): Promise<void> {
  const index = concurrentIndexOf(migration.sql)
  return index ? buildConcurrently(db, migration, index, timeoutMs) : applyWhole(db, migration, timeoutMs)
}

/** Runs the migration and its record in one transaction, and retries while others hold its tables. */
async function applyWhole(db: pg.Client, migration: Migration, timeoutMs: number) {
  const endsAt = Date.now() + timeoutMs
  for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, MAX_TABLE_PAUSE_MS)) {
    try {
      await db.query('BEGIN')
      await db.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_MS}`)
      await db.query(migration.sql)
      await record(db, migration)
      await db.query('COMMIT')
      return
    } catch (error) {
      await db.query('ROLLBACK').catch(() => {})
      if (!isLockedOut(error) || Date.now() + pauseMs > endsAt) throw error
    }
    await sleep(pauseMs)
  }
}

const record = (db: pg.Client, { name, checksum }: Migration) =>
  db.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), 1)`,
    [randomUUID(), checksum, name],
  )

const CONCURRENT_INDEX = /^CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+"(\w+)"\s+ON\s[^;]*;?$/i

/** The index of a migration that is a single `CREATE INDEX CONCURRENTLY`, which cannot run in a transaction. Prisma needs that form too. */
function concurrentIndexOf(sql: string): string | null {
  const statement = sql.replaceAll(/--.*$/gm, '').trim()
  if (!/\bCONCURRENTLY\b/i.test(statement)) return null
  const index = CONCURRENT_INDEX.exec(statement)?.[1]
  if (index) return index
  throw new Error('with CONCURRENTLY a file must be one statement, CREATE INDEX CONCURRENTLY "name" ON …')
}

/** A valid index was left by a start that was killed before it wrote the record, an invalid one by a start that was killed during the build. */
async function buildConcurrently(db: pg.Client, migration: Migration, index: string, timeoutMs: number) {
  // The build blocks nobody, but waits for every older transaction.
  await db.query(`SET lock_timeout = ${timeoutMs}`)
  try {
    const { rows } = await db.query<{ indisvalid: boolean }>(
      'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [`"${index}"`],
    )
    const [built] = rows
    if (built && !built.indisvalid) await db.query(`DROP INDEX CONCURRENTLY "${index}"`)
    if (!built?.indisvalid) await db.query(migration.sql)
    await record(db, migration)
  } finally {
    await db.query('RESET lock_timeout').catch(() => {})
  }
}

/** Lock timeout, or the losing side of a deadlock. */
const isLockedOut = (error: unknown) =>
  error instanceof Error && 'code' in error && ['55P03', '40P01'].includes(String(error.code))

const explain = (error: Error) =>
  isLockedOut(error)
    ? 'others hold its tables. End the transactions that are open for long (pg_stat_activity shows them), and start again.'
    : error.message
