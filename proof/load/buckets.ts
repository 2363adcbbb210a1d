import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { expect, test } from 'vitest'
import type { SystemContext } from '@/domain/context'
import { takePlaces, userBucket } from '@/domain/limits/buckets'
import { LIMITS } from '@/domain/limits/limits'
import { takeReadPlace } from '@/domain/limits/reads'
import { orderedValues, type Sql } from '@/domain/sql'
import { cleanUp } from '@/domain/work/cleanup'
import { openDatabase } from '@/server/adapters/database'
import { givenPeople } from '@/testing/people'
import { changeEmail, emailStatus } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'

const BUCKETS = Number(process.env.BUCKETS ?? 1_000_000)
/** Pages that a statement may read; a batch of the housekeeping removes 1,000 rows. */
const MAX_PAGES = { toTakePlace: 50, toForgetBatch: 12_000 }
const LOOKED_AT_EVERY = 25

/** Half of them over, half of them live, in no order. */
const givenBuckets = ({ query }: World) =>
  query(
    `INSERT INTO rate_limits (key, user_id, hits, places, window_ms, granted, expires_at)
     SELECT 'change:usr_' || md5(n::text), 'usr_' || md5(n::text), ARRAY[now()], 3, 3600000, true,
            now() + CASE WHEN n % 2 = 0 THEN -1 ELSE 1 END * (10 + n % 50) * interval '1 minute'
     FROM generate_series(1, $1) n ORDER BY md5(n::text)`,
    [BUCKETS],
  )

const countOf = async ({ query }: World, condition: string): Promise<number> => {
  const [row] = await query<{ count: number }>(`SELECT count(*)::int AS count FROM rate_limits WHERE ${condition}`)
  return row?.count ?? -1
}

/** Notes how many pages every so many statements read, which no busy machine changes: each is explained and undone first. */
async function givenContext({ databaseUrl }: World, everyStatement: number) {
  const open = openDatabase(databaseUrl)
  const looking = new pg.Client({ connectionString: databaseUrl })
  await looking.connect()
  const pages: number[] = []
  let statements = 0
  const sql: Sql = async (statement, values) => {
    if (/rate_limits/.test(statement.text) && statements++ % everyStatement === 0) {
      await looking.query('BEGIN')
      const { rows } = await looking.query(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}`,
        orderedValues(statement, values),
      )
      await looking.query('ROLLBACK')
      const { Plan } = rows[0]['QUERY PLAN'][0]
      pages.push(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'])
    }
    return open.sql(statement, values)
  }
  const ctx = { ...open, sql, limits: LIMITS, clock: { now: () => new Date() } } as unknown as SystemContext
  const close = async () => {
    await looking.end()
    await open.close()
  }
  return { ctx, pages, count: () => statements, close }
}

test(`L20 a place is found by its key among ${BUCKETS} buckets, and cleanup removes expired ones in batches of equal cost`, async (context) => {
  const world = await givenWorld(context)
  await givenBuckets(world)
  const looks = await givenContext(world, 1)
  for (let n = 1; n <= 100; n++) {
    const known = (await world.query<{ user_id: string }>(`SELECT 'usr_' || md5($1) AS user_id`, [String(n * 97)]))[0]
    for (const userId of [known?.user_id ?? '', `usr_new${n}`]) {
      await takePlaces(looks.ctx, { take: [userBucket(looks.ctx, 'change', userId)], code: 'EMAIL_008' })
    }
  }
  await looks.close()
  process.stdout.write(`  pages to take a place: ${Math.max(...looks.pages)} at most\n`)
  expect(Math.max(...looks.pages)).toBeLessThan(MAX_PAGES.toTakePlace)

  const over = await countOf(world, 'expires_at < now()')
  expect(over).toBeGreaterThan(BUCKETS * 0.45)
  const cleaning = await givenContext(world, LOOKED_AT_EVERY)
  await cleanUp(cleaning.ctx)
  await cleaning.close()
  process.stdout.write(`  ${cleaning.count()} batches; pages of every 25th: ${cleaning.pages.join(', ')}\n`)
  expect(await countOf(world, `expires_at < now() - interval '5 minutes'`)).toBe(0)
  expect(await countOf(world, 'true')).toBeGreaterThanOrEqual(BUCKETS - over)
  // However many have gone before: a batch reads its own rows, and not what is left of others.
  expect(Math.max(...cleaning.pages)).toBeLessThan(MAX_PAGES.toForgetBatch)
})

test(`L20 an instance serves as usual while it removes the expired ones of ${BUCKETS} buckets`, async (context) => {
  const world = await givenWorld(context)
  await givenBuckets(world)
  const people = await givenPeople(world, 200)
  const instance = await world.start({ READ_LIMIT: '1000000', LOG_LEVEL: 'warn' })
  const statuses = new Set<number>()
  await until(
    'what is over is gone',
    async () => {
      const person = people.pop()
      if (person) {
        statuses.add((await changeEmail(instance, person)).status)
        statuses.add((await emailStatus(instance, person)).status)
      }
      return (await countOf(world, `expires_at < now() - interval '5 minutes'`)) === 0
    },
    300_000,
  )
  expect(statuses).toEqual(new Set([200]))
  expect(await countOf(world, 'expires_at > now()')).toBeGreaterThanOrEqual(BUCKETS / 2)
  expect(instance.output.includes('unexpected_error')).toBe(false)
})

test(`L20 an instance drops ${BUCKETS} readers from its memory when their minute is over`, () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed / 1024 / 1024
  }
  let now = Date.now()
  const read = (from: number) => {
    for (let n = from; n < from + BUCKETS; n++) {
      const ctx = { limits: LIMITS, clock: { now: () => new Date(now) }, userId: `usr_${n}`, buckets: [] }
      takeReadPlace(ctx as unknown as Parameters<typeof takeReadPlace>[0])
    }
  }
  const before = heap()
  read(0)
  const full = heap()
  now += 2 * LIMITS.read.windowMs
  read(BUCKETS)
  read(2 * BUCKETS)
  const after = heap()
  process.stdout.write(`  heap ${[before, full, after].map(Math.round).join(' → ')} MiB\n`)
  expect(full - before).toBeLessThan((BUCKETS * 400) / 1024 / 1024 + 8)
  // Those of the first minute are gone: twice as many live ones take no more than twice the room.
  expect(after - before).toBeLessThan((full - before) * 2.3 + 8)
})
