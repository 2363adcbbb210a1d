import { beforeEach, expect, test, vi } from 'vitest'
import { pass, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { tablesWith, untilWaiting } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { givenRows } from '@/testing/rows'
import { atStatement } from '@/testing/statements'
import { givenWithdrawal, stepOf } from '@/testing/withdrawals'
import { day, minute, second } from '../limits/durations'
import { FIRST_BATCH, nextBatch } from './erase'
import { purgeRetainedData } from './purge-retained-data'
import { runDeletionStep } from './run-deletion-step'

/** Needs three batches. */
const MANY = 2.5 * FIRST_BATCH

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
})

/** A person with many rows in tables of every kind. */
async function givenManyRows(apps: string[] = []) {
  const withdrawal = await givenWithdrawal(ctx, apps)
  const rows = { security_incidents: MANY, preferences: MANY, cache_entries: MANY, analytics_events: MANY }
  await givenRows(ctx, withdrawal.userId, rows)
  return withdrawal
}

/** The person shares many items with each connected application. */
const givenManyShared = (userId: string) =>
  ctx.db.$executeRawUnsafe(
    `INSERT INTO shared_items SELECT 'shr_' || c.id || n, c.user_id, c.app_id, 'shared', now()
     FROM app_connections c, generate_series(1, ${MANY}) n WHERE c.user_id = $1`,
    userId,
  )

/** Calls `before` with the number of each transaction and waits for it before the transaction begins. */
const watching = (before: (n: number) => unknown): TestContext => {
  let transactions = 0
  return {
    ...ctx,
    async transact(work) {
      await before(++transactions)
      return ctx.transact(work)
    },
  }
}

test('a large erasure runs in batches, each of which is committed and renews the lease, until nothing is left', async () => {
  const { userId, withdrawalId } = await givenManyRows()
  ctx.clock.advance(5 * minute)
  const seen: unknown[] = []
  const watched = watching(async () => {
    const { status, leaseUntil } = await stepOf(ctx, withdrawalId, 'user_profile')
    const left = await ctx.db.securityIncident.count({ where: { userId } })
    const kept = await ctx.db.retainedRecord.count({ where: { withdrawalId, source: 'security_incidents' } })
    const account = await ctx.db.user.count({ where: { id: userId } })
    seen.push({ status, leaseMs: Number(leaseUntil) - ctx.clock.now().getTime(), left, kept, account })
    // The lease of the next look is counted from here.
    ctx.clock.advance(second)
  })
  expect(await runDeletionStep(watched, { withdrawalId, step: 'user_profile' })).toBeNull()
  const always = { status: 'processing', leaseMs: 30 * second, account: 1 }
  const moment = (left: number) => ({ ...always, left, kept: MANY - left })
  // The second may be the last one, if the first was quick.
  expect(seen.slice(0, 2)).toEqual([moment(MANY), moment(MANY - FIRST_BATCH)])
  expect(await stepOf(ctx, withdrawalId, 'user_profile')).toMatchObject({ status: 'completed', leaseUntil: null })
  expect(await ctx.db.retainedRecord.count({ where: { withdrawalId, source: 'security_incidents' } })).toBe(MANY)
  expect(await ctx.db.preference.count({ where: { userId } })).toBe(0)
  expect(await ctx.db.user.count({ where: { id: userId } })).toBe(0)
})

test('a long erasure pauses after five seconds and is due again at once', async () => {
  const { userId, withdrawalId } = await givenManyRows()
  ctx.clock.advance(5 * minute)
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 11 * second
    return now
  })
  const step = { withdrawalId, step: 'user_profile' } as const
  const again = await runDeletionStep(ctx, step)
  clock.mockRestore()
  expect(again).toEqual(ctx.clock.now())
  expect(await stepOf(ctx, withdrawalId, 'user_profile')).toMatchObject({
    status: 'processing',
    dueAt: ctx.clock.now(),
    leaseUntil: null,
    attempts: 0,
    lastError: null,
  })
  expect(await ctx.db.securityIncident.count({ where: { userId } })).toBe(MANY - FIRST_BATCH)
  await runDueWork(ctx)
  expect(await stepOf(ctx, withdrawalId, 'user_profile')).toMatchObject({ status: 'completed' })
})

test('a large erasure deletes every shared item after the answer and every retained row at the purge', async () => {
  ctx.apps.answer = async ({ endpoint }) => ({ status: endpoint.includes('stuck') ? 503 : 204 })
  const { userId, withdrawalId } = await givenManyRows(['shop', 'stuck'])
  await givenManyShared(userId)
  const shared = () => ctx.db.sharedItem.count({ where: { userId } })
  expect(await shared()).toBe(2 * MANY + 2)
  await pass(ctx, day)
  expect(await shared()).toBe(MANY + 1)
  expect(await ctx.db.retainedRecord.count({ where: { withdrawalId } })).toBeGreaterThan(MANY)
  ctx.clock.advance(29 * day)
  await purgeRetainedData(ctx)
  expect(await shared()).toBe(0)
  expect(await ctx.db.retainedRecord.count({ where: { withdrawalId } })).toBe(0)
  await runDueWork(ctx)
  ctx.apps.answer = async () => ({ status: 204 })
  await pass(ctx, day)
  expect(await tablesWith(ctx, userId)).toEqual([])
})

test('an application counts as told only when all its shared items are deleted, so that a crash leaves none', async () => {
  const { userId, withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  await givenManyShared(userId)
  ctx.clock.advance(day)
  let marks = 0
  const crashing = atStatement(ctx, 'complete-deletion-task', (run) =>
    ++marks === 2 ? Promise.reject(new Error('killed')) : run(),
  )
  const step = { withdrawalId, step: 'third_party_integrations' } as const
  await expect(runDeletionStep(crashing, step)).rejects.toThrow('third_party_integrations failed')
  expect(await ctx.db.sharedItem.count({ where: { userId } })).toBe(MANY + 1 - FIRST_BATCH)
  expect(await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })).toMatchObject({
    status: 'processing',
    leaseUntil: new Date(ctx.clock.now().getTime() + 20 * second),
  })
  ctx.clock.advance(minute)
  expect(await runDeletionStep(ctx, step)).toBeNull()
  expect(await ctx.db.sharedItem.count({ where: { userId } })).toBe(0)
  expect(await ctx.db.appConnection.count({ where: { userId } })).toBe(0)
})

test('the next purge continues one that was interrupted between two batches', async () => {
  const { withdrawalId } = await givenManyRows()
  await pass(ctx, 5 * minute)
  ctx.clock.advance(30 * day)
  const left = () => ctx.db.retainedRecord.count({ where: { withdrawalId } })
  const before = await left()
  // The people of other tests have less than a batch.
  const cutOff = watching(async () => {
    if ((await left()) < before) throw new Error('killed')
  })
  await expect(purgeRetainedData(cutOff)).rejects.toThrow('purges failed')
  expect(await left()).toBe(before - FIRST_BATCH)
  await purgeRetainedData(ctx)
  expect(await left()).toBe(0)
})

test('a row that is changed during its erasure is deleted all the same', async () => {
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  await ctx.db.preference.create({ data: { userId, key: 'theme', value: 'dark' } })
  ctx.clock.advance(5 * minute)
  let run: Promise<unknown> | undefined
  await ctx.transact(async (sql) => {
    await rawSql(sql, `UPDATE preferences SET value = 'light' WHERE user_id = $1`, [userId])
    run = runDeletionStep(ctx, { withdrawalId, step: 'user_profile' })
    await untilWaiting(ctx)
  })
  await run
  expect(await stepOf(ctx, withdrawalId, 'user_profile')).toMatchObject({ status: 'completed' })
  expect(await ctx.db.preference.count({ where: { userId } })).toBe(0)
})

test('batches grow while they are quick, and shrink when they are slow', () => {
  expect([1, 2, 3, 4].reduce((rows) => nextBatch(rows, 100), FIRST_BATCH)).toBe(40_000)
  expect(nextBatch(40_000, 5 * second)).toBe(20_000)
  expect(nextBatch(FIRST_BATCH, 20 * second)).toBe(FIRST_BATCH)
})
