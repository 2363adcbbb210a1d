import { beforeEach, expect, test } from 'vitest'
import { type TestContext, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import type { BucketState } from '../context'
import {
  type Bucket,
  givePlacesBack,
  judgePlaces,
  networkOf,
  type PlaceRow,
  pseudonymousBucket,
  secondsUntil,
  takePlaces,
  userBucket,
  type WantedPlaces,
} from './buckets'
import { hour, minute, second } from './durations'
import { LIMIT_ROWS } from './limits'

const at = (ctx: TestContext, ms: number) => new Date(ctx.clock.now().getTime() + ms)

const noting = (ctx: TestContext) => ({ ...ctx, buckets: [] as BucketState[] })

const hitsOf = async (ctx: TestContext, { key }: Bucket) =>
  (await ctx.db.rateLimit.findUniqueOrThrow({ where: { key } })).hits

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
})

test("the key of an address's bucket can be computed again, and does not reveal the address", async () => {
  const bucket = pseudonymousBucket(ctx, 'target', 'ada@example.test')
  expect(bucket).toEqual({
    name: 'target',
    key: expect.stringMatching(/^target:[A-Za-z0-9_-]{43}$/),
    userId: null,
    places: 5,
    windowMs: 24 * hour,
  })
  expect(pseudonymousBucket(ctx, 'target', 'ada@example.test')).toEqual(bucket)
  expect(pseudonymousBucket(ctx, 'target', 'eve@example.test').key).not.toBe(bucket.key)
  const mac = ctx.secrets.mac('pseudonym', 'ada@example.test').toString('base64url')
  expect(bucket.key).toBe(`target:${mac}`)
})

test('a window rolls: each place becomes free when its own time has passed, to the millisecond', async () => {
  ctx.limits.change = { places: 2, windowMs: hour }
  const take = [userBucket(ctx, 'change', 'usr_rolling')]
  const outcome = () => outcomeOf(takePlaces(ctx, { take }))
  expect(await outcome()).toBe('accepted')
  ctx.clock.advance(10 * minute)
  expect(await outcome()).toBe('accepted')
  await expect(takePlaces(ctx, { take })).rejects.toMatchObject({ code: 'EMAIL_008', retryAfterSeconds: 50 * 60 })
  ctx.clock.advance(50 * minute - 1)
  await expect(takePlaces(ctx, { take })).rejects.toMatchObject({ retryAfterSeconds: 1 })
  ctx.clock.advance(1)
  expect(await outcome()).toBe('accepted')
  expect(await outcome()).toBe('EMAIL_008')
  ctx.clock.advance(10 * minute)
  expect(await outcome()).toBe('accepted')
})

test('a bucket without places refuses every call', async () => {
  ctx.limits.change = { places: 0, windowMs: hour }
  const take = [userBucket(ctx, 'change', 'usr_none')]
  for (const _ of [1, 2]) expect(await outcomeOf(takePlaces(ctx, { take }))).toBe('EMAIL_008')
})

test('a call takes all its places or none: if one bucket is full, the others stay as they were', async () => {
  const ctx = await testContext({
    password: { places: 3, windowMs: minute },
    passwordDay: { places: 1, windowMs: hour },
  })
  const [open, full] = [userBucket(ctx, 'password', 'usr_all'), userBucket(ctx, 'passwordDay', 'usr_all')]
  await takePlaces(ctx, { take: [full] })
  ctx.clock.advance(minute)
  const wanted: WantedPlaces = { take: [open, full] }
  await expect(takePlaces(ctx, wanted)).rejects.toMatchObject({ retryAfterSeconds: 59 * 60 })
  expect(await hitsOf(ctx, open)).toEqual([])
  expect(await hitsOf(ctx, full)).toHaveLength(1)
  ctx.clock.advance(59 * minute)
  expect(await takePlaces(ctx, wanted)).toEqual({ buckets: [open, full], at: ctx.clock.now() })
  const row = await ctx.db.rateLimit.findUniqueOrThrow({ where: { key: open.key } })
  expect(row).toMatchObject({ userId: 'usr_all', places: 3, windowMs: 60_000n, expiresAt: at(ctx, minute) })
})

test.each(['taken', 'target', 'targetMail'] as const)(
  'a refusal by the limit %s names no limit of an address',
  (name) => {
    expect(LIMIT_ROWS[name].refusal).toEqual({ unnamed: 'reveals an address' })
  },
)

test('of several full buckets, the last to have room decides how long to wait', async () => {
  const [short, long] = [userBucket(ctx, 'password', 'usr'), userBucket(ctx, 'passwordDay', 'usr')]
  const now = ctx.clock.now()
  const full = (bucket: Bucket): PlaceRow => ({ key: bucket.key, hits: Array(bucket.places).fill(now), granted: false })
  for (const take of [
    [short, long],
    [long, short],
  ]) {
    const judged = judgePlaces(ctx, { take }, take.map(full), now)
    await expect(judged).rejects.toMatchObject({ code: 'EMAIL_008', retryAfterSeconds: 24 * 3_600 })
  }
})

test('a bucket that is only looked at refuses when it is full, and loses no place', async () => {
  const [taken, seen] = [userBucket(ctx, 'password', 'usr'), userBucket(ctx, 'change', 'usr')]
  const now = ctx.clock.now()
  const rows = (granted: boolean): PlaceRow[] => [
    { key: taken.key, hits: [now], granted: true },
    { key: seen.key, hits: [], granted },
  ]
  const wanted: WantedPlaces = { take: [taken], look: [seen] }
  expect(await judgePlaces(ctx, wanted, rows(true), now)).toEqual({ buckets: [taken], at: now })
  expect(await outcomeOf(judgePlaces(ctx, wanted, rows(false), now))).toBe('EMAIL_008')
})

test('an answer of the database without one of the buckets is a fault and not a permission', async () => {
  const take = [userBucket(ctx, 'change', 'usr')]
  await expect(judgePlaces(ctx, { take }, [], ctx.clock.now())).rejects.toThrow('bucket change was not returned')
})

test("an answer shows the caller's own buckets always, and the others only when they refuse", async () => {
  const ctx = noting(await testContext({ password: { places: 1, windowMs: minute } }))
  const [change, password] = [userBucket(ctx, 'change', 'usr_told'), userBucket(ctx, 'password', 'usr_told')]
  const wanted: WantedPlaces = { take: [change, password] }
  const start = ctx.clock.now()
  await takePlaces(ctx, wanted)
  expect(ctx.buckets).toEqual([{ name: 'change', places: 3, windowMs: hour, remaining: 2, resetsAt: at(ctx, hour) }])
  ctx.clock.advance(10 * second)
  expect(await outcomeOf(takePlaces(ctx, wanted))).toBe('EMAIL_008')
  expect(ctx.buckets).toEqual([
    // The place of the refused call is free again.
    { name: 'change', places: 3, windowMs: hour, remaining: 2, resetsAt: new Date(start.getTime() + hour) },
    { name: 'password', places: 1, windowMs: minute, remaining: 0, resetsAt: at(ctx, 50 * second) },
  ])
  for (const name of ['verify', 'withdraw'] as const) {
    const shown = noting(ctx)
    await takePlaces(shown, { take: [userBucket(ctx, name, 'usr_told')] })
    expect(shown.buckets.map((state) => state.name)).toEqual([name])
  }
})

test('after a limit is lowered, the wait lasts until a place of the new limit is free', async () => {
  ctx.limits.change = { places: 3, windowMs: hour }
  const bucket = userBucket(ctx, 'change', 'usr_fewer')
  for (let n = 0; n < 3; n++) {
    await takePlaces(ctx, { take: [bucket] })
    ctx.clock.advance(minute)
  }
  const noted = noting(ctx)
  const fewer: WantedPlaces = { take: [{ ...bucket, places: 2 }] }
  await expect(takePlaces(noted, fewer)).rejects.toMatchObject({ retryAfterSeconds: 58 * 60 })
  expect(noted.buckets).toMatchObject([{ remaining: 0, resetsAt: at(ctx, 58 * minute) }])
  ctx.clock.advance(58 * minute - 1)
  expect(await outcomeOf(takePlaces(ctx, fewer))).toBe('EMAIL_008')
  ctx.clock.advance(1)
  expect(await outcomeOf(takePlaces(ctx, fewer))).toBe('accepted')
})

test('giving a place back returns exactly one of those taken at that moment', async () => {
  const bucket = userBucket(ctx, 'change', 'usr_back')
  const first = await takePlaces(ctx, { take: [bucket] })
  await takePlaces(ctx, { take: [bucket] })
  ctx.clock.advance(second)
  const third = await takePlaces(ctx, { take: [bucket] })
  const noted = noting(ctx)
  await givePlacesBack(noted, first)
  expect(await hitsOf(ctx, bucket)).toEqual([first.at, third.at])
  expect(noted.buckets).toEqual([
    { name: 'change', places: 3, windowMs: hour, remaining: 1, resetsAt: at(ctx, hour - second) },
  ])
  await givePlacesBack(ctx, third)
  await givePlacesBack(ctx, first)
  expect(await hitsOf(ctx, bucket)).toEqual([])
})

test('giving the last place back leaves the bucket as if untouched, also in the headers', async () => {
  const ctx = noting(await testContext())
  const [change, password] = [userBucket(ctx, 'change', 'usr_last'), userBucket(ctx, 'password', 'usr_last')]
  const places = await takePlaces(ctx, { take: [change, password] })
  ctx.clock.advance(second)
  await givePlacesBack(ctx, places)
  expect(ctx.buckets).toEqual([{ name: 'change', places: 3, windowMs: hour, remaining: 3, resetsAt: ctx.clock.now() }])
  await givePlacesBack(ctx, places)
  expect(await hitsOf(ctx, change)).toEqual([])
})

test('each bucket that gets a place back shows its own state', async () => {
  const ctx = noting(await testContext())
  const [change, verify] = [userBucket(ctx, 'change', 'usr_own'), userBucket(ctx, 'verify', 'usr_own')]
  await takePlaces(ctx, { take: [change] })
  ctx.clock.advance(second)
  await givePlacesBack(ctx, await takePlaces(ctx, { take: [verify, change] }))
  expect(ctx.buckets.map(({ name, remaining }) => [name, remaining])).toEqual([
    ['change', 2],
    ['verify', 30],
  ])
})

test('giving nothing back runs no statement', async () => {
  const offline = { ...ctx, sql: () => Promise.reject(new Error('a statement')) }
  await givePlacesBack(offline, { buckets: [], at: ctx.clock.now() })
})

test('a wait is shown in whole seconds, rounded up and at least one', () => {
  const now = new Date('2026-11-20T09:00:00.000Z')
  const waits = [-1, 0, 1, 999, 1_000, 1_001, 59_999].map((ms) => secondsUntil(now.getTime() + ms, now))
  expect(waits).toEqual([1, 1, 1, 1, 1, 2, 60])
  expect(secondsUntil(new Date('2026-11-20T09:05:00.000Z'), now)).toBe(300)
})

test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8::6', '2001:db8:0:0'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
  ['192.0.2.1', '192.0.2.1'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})
