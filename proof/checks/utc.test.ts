import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { sql, statement, text, time } from '@/domain/sql'
import { openDatabase } from '@/server/adapters/database'
import { openClient, setDatabase } from '@/testing/database'
import { type TestContext, testContext, testDatabase } from '@/testing/domain'

// New York is five hours behind UTC in November, so that a session that speaks its time shifts every time by five hours.
const AT = new Date('2026-11-20T09:00:00.123Z')

let url: string
beforeAll(async () => {
  ;({ url } = await testDatabase())
  await setDatabase(url, { timezone: 'America/New_York' })
})

async function givenContext(): Promise<TestContext> {
  const open = openDatabase(url)
  onTestFinished(() => open.close())
  const { sql, transact, db } = open
  return { ...(await testContext()), sql, transact, db }
}

/** As seconds since 1970, which no time zone changes. */
async function storedExpiry(key: string): Promise<Date> {
  const client = await openClient(url)
  const { rows } = await client.query('SELECT extract(epoch FROM expires_at) AS at FROM rate_limits WHERE key = $1', [
    key,
  ])
  return new Date(Math.round(Number(rows[0]?.at) * 1000))
}

const bucket = (key: string) => ({ key, hits: [AT], places: 1, windowMs: 1n, granted: true, expiresAt: AT })
const insert = statement(
  'insert-bucket',
  { key: text, at: time },
  {},
  (v) => sql`INSERT INTO rate_limits (key, hits, places, window_ms, granted, expires_at)
   VALUES (${v.key}, ARRAY[${v.at}::timestamptz], 1, 1, true, ${v.at})`,
)
const read = statement(
  'read-bucket',
  { key: text },
  { expires_at: time, hits: time.list },
  (v) => sql`SELECT expires_at, hits FROM rate_limits WHERE key = ${v.key}`,
)

test('the database of these tests uses New York time in its own sessions', async () => {
  const client = await openClient(url)
  const { rows } = await client.query('SHOW timezone')
  expect(rows).toEqual([{ TimeZone: 'America/New_York' }])
})

test('a time that Prisma writes is stored and read as the same instant in any time zone of the database', async () => {
  const { db, sql } = await givenContext()
  await db.rateLimit.create({ data: bucket('by prisma') })
  expect(await storedExpiry('by prisma')).toEqual(AT)
  expect(await sql(read, { key: 'by prisma' })).toEqual([{ expires_at: AT, hits: [AT] }])
  expect(await db.rateLimit.findUnique({ where: { key: 'by prisma' } })).toMatchObject({ expiresAt: AT, hits: [AT] })
  expect(await db.rateLimit.count({ where: { key: 'by prisma', expiresAt: AT } })).toBe(1)
})

test('a time that a statement writes is stored and read as the same instant, alone and in a transaction', async () => {
  const { db, sql, transact } = await givenContext()
  await sql(insert, { key: 'alone', at: AT })
  await transact((inside) => inside(insert, { key: 'inside', at: AT }))
  for (const key of ['alone', 'inside']) {
    expect(await storedExpiry(key)).toEqual(AT)
    expect(await sql(read, { key })).toEqual([{ expires_at: AT, hits: [AT] }])
    expect(await db.rateLimit.findUnique({ where: { key } })).toMatchObject({ expiresAt: AT, hits: [AT] })
  }
})
