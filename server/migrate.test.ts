import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { listening } from '@/testing/listening'
import { migrateDeploy } from './migrate'

const OWN = 'prisma/migrations'
let scratch: string
let program: string

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'migrate-'))
  program = path.resolve('.data', `migrate-${randomBytes(6).toString('hex')}.mjs`)
  await build({
    stdin: {
      contents: `import { migrateDeploy } from './server/migrate'; await migrateDeploy(...process.argv.slice(2))`,
      resolveDir: '.',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: program,
    logLevel: 'warning',
  })
})
afterAll(async () => {
  await rm(scratch, { recursive: true })
  await rm(program)
})

/** An empty database for the test, and a connection to it. It is dropped when the test ends, or earlier. */
async function givenDatabase() {
  const name = `${inject('templateDatabase').replace('template', '')}${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: inject('adminUrl') })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(inject('adminUrl')), { pathname: name }).href
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  db.on('error', () => {})
  let isThere = true
  /** There are few connections, and some tests need many databases. */
  const drop = async () => {
    if (!isThere) return
    isThere = false
    await db.end()
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  }
  onTestFinished(drop)
  /** Waits until so many other sessions wait for a lock with such a statement. Asks on another connection, because a transaction sees one state. */
  const untilWaiting = (count: number, what = '%') =>
    expect
      .poll(
        async () => {
          const { rows } = await admin.query(
            `SELECT FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock' AND query ILIKE $2`,
            [name, what],
          )
          return rows.length
        },
        { interval: 10 },
      )
      .toBe(count)
  return { url, db, drop, untilWaiting }
}

async function givenMigrations(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(path.join(scratch, 'files-'))
  for (const [name, sql] of Object.entries(files)) {
    await mkdir(path.join(directory, name))
    await writeFile(path.join(directory, name, 'migration.sql'), sql)
  }
  return directory
}

/** The last statement of the second file cannot be repeated, and nothing shows that it ran. */
const FILES = {
  '01_begin': 'CREATE TABLE things (id int PRIMARY KEY, kind text);',
  '02_fill': 'INSERT INTO things SELECT n, n::text FROM generate_series(1, 9) n; UPDATE things SET id = id + 100;',
  '03_index': '-- Built beside the writers.\nCREATE INDEX CONCURRENTLY "things_kind" ON "things"("kind");\n',
}

const FIRST = { '01_begin': FILES['01_begin'] }

async function expectWhole(db: pg.Client) {
  const { rows: records } = await db.query(
    'SELECT migration_name AS name, checksum, applied_steps_count AS steps FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY 1',
  )
  expect(records).toEqual(Object.entries(FILES).map(([name, sql]) => ({ name, checksum: checksumOf(sql), steps: 1 })))
  const { rows } = await db.query(
    `SELECT (SELECT count(*)::int FROM _prisma_migrations) AS records, (SELECT min(id) FROM things) AS least,
            (SELECT indisvalid FROM pg_index WHERE indexrelid = 'things_kind'::regclass) AS valid`,
  )
  expect(rows).toEqual([{ records: 3, least: 101, valid: true }])
}

const checksumOf = (sql: string) => createHash('sha256').update(sql).digest('hex')

/** Starts a separate process that migrates. */
function begin(url: string, directory: string): ChildProcess {
  const child = spawn(process.execPath, [program, url, directory], { stdio: ['ignore', 'ignore', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve))

test('a migration that is killed after any statement is finished by the next start', {
  timeout: 180_000,
}, async () => {
  const directory = await givenMigrations(FILES)
  for (let statements = 4; ; statements++) {
    const { url, db, drop } = await givenDatabase()
    const code = await killedAfter(statements, url, directory)
    await migrateDeploy(url, directory)
    await expectWhole(db)
    await drop()
    if (code === 0) {
      expect(statements).toBeGreaterThan(15)
      return
    }
  }
})

/** Forwards so many messages of the client, then kills the client. Returns its exit code, null when it was killed. */
async function killedAfter(messages: number, url: string, directory: string): Promise<number | null> {
  let sent = 0
  let child: ChildProcess | undefined
  const proxy = createServer((client) => {
    const server = connect(Number(new URL(url).port), '127.0.0.1')
    client.on('data', (data) => {
      if (sent++ < messages) server.write(data)
      if (sent === messages) child?.kill('SIGKILL')
    })
    server.pipe(client)
    client.on('close', () => server.end())
    for (const socket of [client, server]) socket.on('error', () => {})
  })
  const port = String(await listening(proxy))
  child = begin(Object.assign(new URL(url), { port }).href, directory)
  const code = await ended(child)
  proxy.close()
  return code
}

test('a start that is killed while its migration waits for a table blocks nobody and leaves nothing behind', async () => {
  const { url, db, untilWaiting } = await givenDatabase()
  await migrateDeploy(url, await givenMigrations(FIRST))
  const directory = await givenMigrations(FILES)
  await db.query('BEGIN; LOCK TABLE things IN SHARE MODE')
  const child = begin(url, directory)
  await untilWaiting(1)
  child.kill('SIGKILL')
  await ended(child)
  await db.query('COMMIT')
  await migrateDeploy(url, directory)
  await expectWhole(db)
})

test('an index is built while others write, and one that a killed build left invalid is built again', async () => {
  const { url, db, untilWaiting } = await givenDatabase()
  await migrateDeploy(url, await givenMigrations({ ...FIRST, '02_fill': FILES['02_fill'] }))
  const directory = await givenMigrations(FILES)
  // The build waits for this transaction, so it is unfinished.
  await db.query('BEGIN; INSERT INTO things VALUES (-1); DELETE FROM things WHERE id = -1')
  const child = begin(url, directory)
  await untilWaiting(1, '%CONCURRENTLY%')
  const writer = new pg.Client({ connectionString: url, statement_timeout: 5_000 })
  await writer.connect()
  await writer.query('INSERT INTO things VALUES (500)')
  child.kill('SIGKILL')
  await ended(child)
  // Ends the build, as a crash of the server would.
  await writer.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE '%CONCURRENTLY%' AND pid <> pg_backend_pid()`,
  )
  await writer.end()
  await db.query('COMMIT')
  const { rows } = await db.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'things_kind'::regclass`)
  expect(rows).toEqual([{ indisvalid: false }])
  await migrateDeploy(url, directory)
  await expectWhole(db)
})

test('concurrent starts build an index once, and none of them delays the build', async () => {
  const { url, db } = await givenDatabase()
  const directory = await givenMigrations(FILES)
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrateDeploy(url, directory)))
  expect(applied.map(({ length }) => length).sort()).toEqual([0, 0, 0, 3])
  await expectWhole(db)
})

test('a migration that gets no table lock in time lets others pass, and retries until it gets it', async () => {
  const { url, db, untilWaiting } = await givenDatabase()
  const directory = await givenMigrations(FILES)
  await migrateDeploy(url, await givenMigrations(FIRST))
  await db.query('BEGIN; LOCK TABLE things IN SHARE MODE')
  await expect(migrateDeploy(url, directory, { timeoutMs: 1 })).rejects.toThrow(
    'Migration 02_fill failed: others hold its tables.',
  )
  const start = migrateDeploy(url, directory)
  await untilWaiting(1)
  // Between its tries nobody waits behind it.
  await untilWaiting(0)
  await db.query('COMMIT')
  expect(await start).toEqual(['02_fill', '03_index'])
  await expectWhole(db)
})

test('a start that waits for another start, or for a table, says so and goes on saying so', async () => {
  const { url, db } = await givenDatabase()
  await migrateDeploy(url, await givenMigrations(FIRST))
  const waits: object[] = []
  const onWaiting = (facts: object) => void waits.push(facts)
  const untilNotified = (facts: object) => expect.poll(() => waits.slice(-2)).toEqual([facts, facts])
  await db.query('SELECT pg_advisory_lock(72707369)')
  await db.query('BEGIN; LOCK TABLE things IN SHARE MODE')
  const start = migrateDeploy(url, await givenMigrations(FILES), { waitingIntervalMs: 20, onWaiting })
  await untilNotified({ event: 'migrations_locked' })
  await db.query('SELECT pg_advisory_unlock(72707369)')
  await untilNotified({ event: 'migration_runs', migration: '02_fill' })
  await db.query('COMMIT')
  expect(await start).toEqual(['02_fill', '03_index'])
  const after = waits.length
  await db.query('SELECT pg_sleep(0.1)')
  expect(waits).toHaveLength(after)
})

test('a failed migration leaves nothing behind, and the error names it', async () => {
  const { url, db } = await givenDatabase()
  const directory = await givenMigrations({ '01_wrong': 'CREATE TABLE half (id int); SELECT nothing FROM nowhere;' })
  await expect(migrateDeploy(url, directory)).rejects.toThrow(
    'Migration 01_wrong failed: relation "nowhere" does not exist',
  )
  const { rows } = await db.query(
    `SELECT to_regclass('half') AS half, (SELECT count(*)::int FROM _prisma_migrations) AS records`,
  )
  expect(rows).toEqual([{ half: null, records: 0 }])
  const mixed = await givenMigrations({ '01_mixed': 'SELECT 1; CREATE INDEX CONCURRENTLY "a" ON "b"("c");' })
  await expect(migrateDeploy(url, mixed)).rejects.toThrow('Migration 01_mixed failed: with CONCURRENTLY')
})

const sqlOf = (name: string) => readFile(path.join(OWN, name, 'migration.sql'), 'utf8')

test('a migration that was begun and never ended stops the start with a sentence', async () => {
  const { url, db } = await givenDatabase()
  const directory = await givenMigrations(FILES)
  await migrateDeploy(url, directory)
  await db.query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '02_fill'`)
  const sentence =
    'Migration 02_fill was begun and never ended: make the schema whole, and record that with "prisma migrate resolve".'
  await expect(migrateDeploy(url, directory)).rejects.toThrow(sentence)
  await db.query(
    `UPDATE _prisma_migrations SET rolled_back_at = now(), finished_at = NULL WHERE migration_name = '03_index'`,
  )
  await db.query(`UPDATE _prisma_migrations SET finished_at = now() WHERE migration_name = '02_fill'`)
  await db.query('DROP INDEX things_kind')
  expect(await migrateDeploy(url, directory)).toEqual(['03_index'])
})

test('B47 an upgrade holds the addresses that were replaced lately, and releases every frozen account with an audit row', async () => {
  const { url, db } = await givenDatabase()
  const before = (await readdir(OWN)).filter((name) => /^\d/.test(name) && name < '20261126010000')
  const files = await Promise.all(before.map(async (name) => [name, await sqlOf(name)] as const))
  await migrateDeploy(url, await givenMigrations(Object.fromEntries(files)))
  const users = {
    ada: 'ada2@example.test',
    grace: 'xn--bcher-kva.test',
    ida: 'ida2@example.test',
    eve: 'ida@example.test',
  }
  for (const [name, key] of Object.entries(users)) {
    await db.query(
      `INSERT INTO users (id, name, email, email_key, created_at, frozen_at) VALUES ($1, $1, $2, $2, now(), $3)`,
      [name, key, name === 'ida' ? new Date() : null],
    )
  }
  const changes = [
    ['new', 'ada', 'Ada@Example.Test', 'ada2@example.test', '1 day'],
    ['past', 'ada', 'old@example.test', 'ada@example.test', '31 days'],
    ['case', 'ada', 'ADA2@example.test', 'ada2@example.test', '1 day'],
    ['brought', 'grace', 'grace@example.test', 'grace@xn--bcher-kva.test', '40 days'],
    ['unicode', 'grace', 'Grace@bücher.test', 'g@example.test', '1 day'],
    ['taken', 'ida', 'ida@example.test', 'ida2@example.test', '1 day'],
  ]
  for (const [id, user, from, to, age] of changes) {
    await db.query(
      `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac,
                                          requested_at, request_ip, sent_at, expires_at, closed_at)
       VALUES ($1, $2, 'verified', 'email_code', $3, CASE $1 WHEN 'brought' THEN 'Grace@bücher.test' ELSE $4 END, $4, '',
               now(), '', now(), now(), now() - $5::interval)`,
      [id, user, from, to, age],
    )
  }
  await migrateDeploy(url)
  const { rows } = await db.query(
    'SELECT id, old_email_key FROM email_change_requests WHERE old_email_key IS NOT NULL ORDER BY id',
  )
  expect(rows).toEqual([
    { id: 'new', old_email_key: 'ada@example.test' },
    { id: 'unicode', old_email_key: 'grace@xn--bcher-kva.test' },
  ])
  const audited = await db.query('SELECT user_id, action, actor FROM audit_events')
  expect(audited.rows).toEqual([{ user_id: 'ida', action: 'account.unfrozen', actor: 'system' }])
})

test('a migration builds indexes of tables that may be large beside their writers', async () => {
  const names = (await readdir(OWN)).filter((name) => /^\d/.test(name) && name > '20261123')
  for (const name of names) {
    const sql = await sqlOf(name)
    const created = [...sql.matchAll(/CREATE TABLE "(\w+)"/g)].map(([, table]) => table)
    // Applications are few.
    created.push('connected_apps')
    const indexed = [...sql.matchAll(/CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)"\w+" ON "(\w+)"/g)]
    expect(
      indexed.map(([, table]) => table).filter((table) => !created.includes(table)),
      name,
    ).toEqual([])
  }
})
