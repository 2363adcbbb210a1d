import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { expect, type TestContext, test } from 'vitest'
import type { SystemContext } from '@/domain/context'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { openDatabase } from '@/server/adapters/database'
import { createSecrets } from '@/server/adapters/secrets'
import { Cluster } from '@/testing/cluster'
import { expectPurged, startWithdrawal } from '@/testing/completed-withdrawal'
import type { Instance } from '@/testing/instance'
import { emailStatus, givenPerson, mailedCode, type Person, signIn, verifyEmail } from '@/testing/person'
import { rawSql, runAt } from '@/testing/raw-sql'
import { skip } from '@/testing/skip'
import { givenWorld, KEYS, type World } from '@/testing/world'
import { hasPgBouncer, startPgBouncer } from './pgbouncer'

// The databases that adopters use. A test whose database is not installed prints SKIPPED.

const PG15 = process.env.PG15_BIN ?? '/usr/lib/postgresql/15/bin'
const SEARCH_PATH = '?options=-csearch_path%3Dpublic'

/** A server that gives every new session settings which the service must not use. */
async function givenStrangeServer(context: TestContext, bin?: string): Promise<Cluster> {
  const cluster = await Cluster.start(context, { bin })
  const strange = {
    timezone: 'America/New_York',
    synchronous_commit: 'off',
    default_transaction_isolation: 'repeatable read',
  }
  await runAt(
    cluster.place.databaseUrl,
    ...Object.entries(strange).map(([name, value]) => `ALTER SYSTEM SET ${name} = '${value}'`),
    `ALTER DATABASE accounts SET timezone = 'America/New_York'`,
    'SELECT pg_reload_conf()',
  )
  return cluster
}

test('every flow completes and no time shifts on PostgreSQL 18 in New York, with options in the URL', async (context) => {
  const { place } = await givenStrangeServer(context)
  await expectService(context, { ...place, databaseUrl: place.databaseUrl + SEARCH_PATH })
})

test('every flow completes and no time shifts on PostgreSQL 15 in New York, with options in the URL', async (context) => {
  if (!existsSync(path.join(PG15, 'initdb'))) return skip(context, 'PostgreSQL 15 is not installed (PG15_BIN)')
  const { place } = await givenStrangeServer(context, PG15)
  await expectService(context, { ...place, databaseUrl: place.databaseUrl + SEARCH_PATH })
})

test('every flow completes and no time shifts behind PgBouncer in session mode, which drops the options of the URL', async (context) => {
  if (!hasPgBouncer) return skip(context, 'PgBouncer is not installed (PGBOUNCER)')
  const { place } = await givenStrangeServer(context)
  const databaseUrl = await startPgBouncer(context, place.databaseUrl, 'session')
  await expectService(context, { ...place, databaseUrl: databaseUrl + SEARCH_PATH })
})

test('a start behind PgBouncer in transaction mode is refused with a sentence, before any migration', async (context) => {
  if (!hasPgBouncer) return skip(context, 'PgBouncer is not installed (PGBOUNCER)')
  const { place } = await Cluster.start(context)
  await runAt(place.databaseUrl, 'CREATE DATABASE untouched')
  const direct = Object.assign(new URL(place.databaseUrl), { pathname: 'untouched' }).href
  const pooled = await startPgBouncer(context, direct, 'transaction')
  const sentence =
    'The pooler behind DATABASE_URL shares sessions between transactions (transaction pooling). ' +
    'The service needs sessions of its own: use session pooling (in PgBouncer pool_mode = session), or connect to PostgreSQL itself.\n'
  const create = 'scripts/account.mjs user create --email a@example.test --password correct-horse --name A'
  for (const command of ['dist/server.mjs', create]) {
    const words = command.split(' ')
    expect(await runToItsEnd(context, words, { DATABASE_URL: pooled })).toEqual({ code: 1, output: sentence })
  }
  const client = new pg.Client({ connectionString: direct })
  await client.connect()
  const { rows } = await client.query(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
  await client.end()
  expect(rows).toEqual([])
})

function runToItsEnd(context: TestContext, words: string[], settings: Record<string, string>) {
  const env = { ...process.env, NODE_ENV: 'production' as const, ...KEYS, ...settings }
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  context.onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

test('PostgreSQL 15 compiles no plan by JIT, not even one that reads a whole table', async (context) => {
  if (!existsSync(path.join(PG15, 'initdb'))) return skip(context, 'PostgreSQL 15 is not installed (PG15_BIN)')
  const { place } = await Cluster.start(context, { bin: PG15 })
  const text = 'EXPLAIN (ANALYZE) SELECT max(length(description)) FROM transactions'
  const plain = new pg.Client({ connectionString: place.databaseUrl, options: '-c enable_seqscan=off' })
  await plain.connect()
  const { rows: compiled } = await plain.query(text)
  const { rows: has } = await plain.query('SELECT pg_jit_available() AS jit')
  await plain.end()
  expect(JSON.stringify(compiled).includes('JIT')).toBe(has[0].jit)
  const database = openDatabase(place.databaseUrl)
  const plan = await rawSql(database.sql, text)
  await database.close()
  expect(JSON.stringify(plan)).not.toContain('JIT')
})

/** A wrong time zone shifts a time by hours. On a busy machine the service first reads the database's clock with an error of seconds. */
const expectNear = (time: string, at: number) => expect(Math.abs(Date.parse(time) - at)).toBeLessThan(10 * 60_000)

/** All flows, and the times that they tell. */
async function expectService(context: TestContext, place: { databaseUrl: string; postgresLogs: string[] }) {
  const world = await givenWorld(context, {}, place)
  await world.givenApplication('shop')
  const instance = await world.start()
  const person = await givenPerson(world, instance)
  const startedAt = Date.now() - 60_000

  const expiresIn = ['--expires-in', 'PT1H', '--name', 'an hour']
  await world.operator.run('token', 'create', '--user', person.id, '--scope', 'email:manage', ...expiresIn)
  const tokens = await listTokens(world, instance, person)
  const created = tokens.find(({ name }) => name === 'an hour')
  expect(Date.parse(created?.created_at ?? '')).toBeGreaterThan(startedAt)
  expect(Date.parse(created?.expires_at ?? '') - Date.parse(created?.created_at ?? '')).toBe(3_600_000)

  const { body: status } = await emailStatus(instance, person)
  expectNear(status.data.pending_change.expires_at, Date.now() + 12 * 3_600_000)
  const verified = await verifyEmail(instance, person, mailedCode(world, person))
  expect(verified.status, JSON.stringify(verified.body)).toBe(200)
  expectNear(verified.body.data.changed_at, Date.now())

  await expectPurged(world, await startWithdrawal(instance, person))
}

interface ListedToken {
  name: string
  created_at: string
  expires_at: string
}

/** As the page of a session asks. */
async function listTokens(world: World, instance: Instance, person: Person): Promise<ListedToken[]> {
  await signIn(instance, person)
  const [session] = await world.query<{ id: string }>(
    'SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC LIMIT 1',
    [person.id],
  )
  const secrets = createSecrets({ auth: [KEYS.AUTH_SECRET], code: [KEYS.CODE_SECRET] })
  const { token } = createSessionToken(
    { secrets, clock: { now: () => new Date() } } as SystemContext,
    session?.id ?? '',
  )
  const path = `/api/v1/users/${person.id}/access-tokens`
  const { status, body } = await instance.call({ path, token, scope: 'tokens:manage' })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data.access_tokens
}
