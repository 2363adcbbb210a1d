import { expect, onTestFinished, test } from 'vitest'
import { type Sql, sql, statement, text } from '@/domain/sql'
import { testDatabase } from '@/testing/domain'
import { untilWaiting } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { processState } from '../process-state'
import { createLog } from '../watch/log'
import { openDatabase } from './database'

/** Three rows that a test locks. */
async function givenRows() {
  const { url } = await testDatabase()
  // A waiter looks for a deadlock once, so soon after it began to wait.
  const database = openDatabase(`${url}?options=-c%20deadlock_timeout%3D50ms`)
  onTestFinished(() => database.close())
  const keyed = (name: string) => `${name}-${performance.now()}`
  const rows: [string, string, string] = [keyed('a'), keyed('b'), keyed('c')]
  await database.transact((sql) =>
    rawSql(
      sql,
      `INSERT INTO rate_limits (key, hits, places, window_ms, granted, expires_at)
       SELECT key, '{}', 1, 1, true, now() FROM unnest($1::text[]) AS key`,
      [rows],
    ),
  )
  return { database, rows }
}

const LOCK = 'SELECT FROM rate_limits WHERE key = $1 FOR UPDATE'
const lockAll = statement(
  'lock-all-rows',
  { keys: text.list },
  { key: text },
  (v) => sql`SELECT key FROM rate_limits WHERE key = ANY(${v.keys}) ORDER BY key FOR UPDATE`,
)

/** Resolves when so many calls have come. */
function meetingOf(expected: number): () => Promise<void> {
  let come = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  return () => {
    if (++come === expected) resolve()
    return promise
  }
}

test('F41 of two transactions that wait for each other one is repeated, and neither caller sees it', async () => {
  const { database, rows } = await givenRows()
  const meet = meetingOf(2)
  let tries = 0
  const lock = (first: string, second: string) =>
    database.transact(async (sql) => {
      tries++
      await rawSql(sql, LOCK, [first])
      await meet()
      await rawSql(sql, LOCK, [second])
      return 'committed'
    })
  const [a, b] = rows
  expect(await Promise.all([lock(a, b), lock(b, a)])).toEqual(['committed', 'committed'])
  // On a busy machine the repeated try may meet the other one again; each call has four tries.
  expect(tries).toBeGreaterThanOrEqual(3)
  expect(tries).toBeLessThanOrEqual(8)
})

test('F41 a statement that another transaction deadlocks is repeated, and its caller does not see it', async () => {
  const { database, rows } = await givenRows()
  const [first, between, last] = rows
  let tries = 0
  const barrier = Promise.withResolvers<void>()
  const holder = database.transact(async (sql) => {
    await rawSql(sql, LOCK, [between])
    await barrier.promise
  })
  const both = database.sql(lockAll, { keys: rows })
  await untilWaiting(database)
  const other = database.transact(async (sql) => {
    tries++
    // The statement is the one that shall find the deadlock.
    await rawSql(sql, "SET LOCAL deadlock_timeout = '10min'")
    await rawSql(sql, LOCK, [last])
    await rawSql(sql, LOCK, [first])
  })
  await untilWaiting(database, 2)
  barrier.resolve()
  await Promise.all([holder, other])
  expect(await both).toEqual(rows.map((key) => ({ key })))
  expect(tries).toBe(1)
})

test('a transaction that meets a deadlock at every try is given up', async () => {
  const { database } = await givenRows()
  let tries = 0
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  const failing = database.transact(async () => {
    tries++
    throw deadlock
  })
  await expect(failing).rejects.toBe(deadlock)
  expect(tries).toBe(4)
})

test('F41 of statements that are sent together the first failed one gives the error, in whatever order the answers arrive', async () => {
  const { database, rows } = await givenRows()
  const heardLate = async (work: Promise<unknown>) => {
    const [outcome] = await Promise.allSettled([work])
    if (outcome.status === 'rejected') throw outcome.reason
  }
  const work = database.transact((sql) =>
    Promise.all([heardLate(rawSql(sql, 'SELECT 1 / 0', [])), rawSql(sql, LOCK, [rows[0]])]),
  )
  await expect(work).rejects.toMatchObject({ code: '22012' })
})

test.each(['failed', 'committed'])(
  'work that goes on after its transaction has %s cannot use the connection any more',
  async (end) => {
    const { database, rows } = await givenRows()
    let inside: Sql | undefined
    const ending = database.transact(async (sql) => {
      inside = sql
      if (end === 'failed') throw new Error('on purpose')
    })
    await ending.catch(() => {})
    await expect(rawSql(inside as Sql, LOCK, [rows[0]])).rejects.toThrow('the transaction is over')
  },
)

test('what a transaction asks for after its commit begins once, after it, and is forgotten with an attempt that fails', async () => {
  const { database, rows } = await givenRows()
  const seen: string[] = []
  const count = () => database.db.rateLimit.count({ where: { key: rows[0] } })
  let tries = 0
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  const left = await database.transact(async (sql, afterCommit) => {
    const attempt = ++tries
    afterCommit(() => seen.push(`effect of attempt ${attempt}`))
    await rawSql(sql, 'DELETE FROM rate_limits WHERE key = $1', [rows[0]])
    if (attempt === 1) throw deadlock
    expect(seen).toEqual([])
    return count()
  })
  expect([left, await count(), seen]).toEqual([1, 0, ['effect of attempt 2']])
})

test('the end of every connection is one line of the log', async () => {
  const { url } = await testDatabase()
  const name = `lost-${performance.now()}`
  const all = Promise.withResolvers<void>()
  let lost = 0
  const onLoss = () => ++lost === 3 && all.resolve()
  const [database, other] = [openDatabase(`${url}?application_name=${name}`, 3, { onLoss }), openDatabase(url, 1)]
  const events: string[] = []
  const { log } = processState
  processState.log = createLog('info', { write: (line) => void events.push(JSON.parse(line).event) })
  onTestFinished(async () => {
    processState.log = log
    await Promise.all([database.close(), other.close()])
  })
  const meet = meetingOf(3)
  const open = () => database.transact((sql) => rawSql(sql, 'SELECT 1').then(meet))
  await Promise.all([open(), open(), open()])
  const END = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1'
  await other.transact((sql) => rawSql(sql, END, [name]))
  await all.promise
  expect(events).toEqual(['database_connection_lost'])
})

test('connections have the name of the service in pg_stat_activity, unless the URL has another', async () => {
  const { url } = await testDatabase()
  const named = async (query: string) => {
    const database = openDatabase(`${url}${query}`)
    onTestFinished(() => database.close())
    const [row] = await database.db.$queryRaw<{ name: string }[]>`SELECT current_setting('application_name') AS name`
    return row?.name
  }
  expect(await named('')).toBe('user-account-service')
  expect(await named('?application_name=accounts-eu')).toBe('accounts-eu')
})
