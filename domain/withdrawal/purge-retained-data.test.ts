import { beforeEach, expect, test } from 'vitest'
import { withdraw } from '@/testing/api-calls'
import { givenCaller } from '@/testing/callers'
import { givenUser, pass, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { failingAt, tablesWith } from '@/testing/outcomes'
import { givenService } from '@/testing/service'
import { atStatement } from '@/testing/statements'
import { givenWithdrawal, withdrawalOf } from '@/testing/withdrawals'
import { day } from '../limits/durations'
import { retryWithdrawal } from './operate-withdrawal'
import { purgeRetainedData } from './purge-retained-data'
import { runDeletionStep } from './run-deletion-step'
import { showWithdrawal } from './show-withdrawal'
import { countWithdrawals, troubledWithdrawals } from './watch-withdrawals'

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
})

test('a purge that another instance has ended since the due ones were read is left alone', async () => {
  await givenWithdrawal(ctx)
  await pass(ctx, 2 * day)
  ctx.clock.advance(28 * day)
  let others = 0
  const late = atStatement(ctx, 'purges-due', async (run) => {
    const rows = await run()
    if (rows.length > 0) others += await purgeRetainedData(ctx)
    return rows
  })
  expect([await purgeRetainedData(late), others]).toEqual([0, 1])
})

test('F30 purges that fail do not stop the purges behind them, and the next purge deletes all that is due', async () => {
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push((await givenWithdrawal(ctx)).withdrawalId)
  ctx.clock.advance(30 * day)
  const failing = purgeRetainedData(failingAt(ctx, 'lock-purge', ids.slice(0, 3)), 2)
  await expect(failing).rejects.toMatchObject({ errors: { length: 3 } })
  const left = await ctx.db.withdrawal.findMany({ where: { purgedAt: null } })
  expect(left.map(({ id }) => id).sort()).toEqual(ids.slice(0, 3).sort())
  expect(await purgeRetainedData(ctx, 2)).toBe(3)
  expect(await ctx.db.withdrawal.count({ where: { purgedAt: null } })).toBe(0)
})

test('after thirty days the audit of others names no operator who has deleted their own account, and keeps what was done', async () => {
  const { userId } = await givenWithdrawal(ctx)
  const { userId: other } = await givenUser(ctx)
  const done = { userId: other, action: 'transaction.settled', actor: 'operator', at: ctx.clock.now() }
  await ctx.db.auditEvent.createMany({
    data: [
      { ...done, id: `aud_1${other}`, actorId: userId },
      { ...done, id: `aud_2${other}`, actorId: 'usr_another' },
    ],
  })
  await pass(ctx, 30 * day)
  expect(await tablesWith(ctx, userId)).toEqual([])
  const rows = await ctx.db.auditEvent.findMany({
    where: { userId: other, action: done.action },
    orderBy: { id: 'asc' },
  })
  expect(rows.map(({ actorId }) => actorId)).toEqual([null, 'usr_another'])
})

test('F19 after thirty days an application that never answers keeps only what its call needs', async () => {
  ctx.apps.answer = async ({ endpoint }) => ({ status: endpoint.includes('stuck') ? 503 : 204 })
  const { userId, email, withdrawalId } = await givenWithdrawal(ctx, ['shop', 'stuck'])
  for (const days of [1, 28]) await pass(ctx, days * day)
  expect(await tablesWith(ctx, userId)).toEqual(['app_connections', 'ended_credentials', 'shared_items', 'withdrawals'])
  expect(await ctx.db.retainedRecord.count({ where: { withdrawalId } })).toBeGreaterThan(0)

  await pass(ctx, day)
  expect(await tablesWith(ctx, userId)).toEqual([])
  expect(await tablesWith(ctx, email)).toEqual(['deletion_tasks'])
  expect(await tablesWith(ctx, withdrawalId)).toEqual([
    'deletion_counts',
    'deletion_steps',
    'deletion_tasks',
    'withdrawal_receipts',
    'withdrawals',
  ])
  expect(await withdrawalOf(ctx, withdrawalId)).toMatchObject({
    completedAt: null,
    purgedAt: ctx.clock.now(),
    reason: 'other',
  })

  expect(await showWithdrawal(ctx, withdrawalId)).toMatchObject({
    status: 'processing',
    tasks: [{ name: 'stuck', last_error: 'HTTP 503' }],
  })
  expect((await countWithdrawals(ctx)).processing).toBe(1)
  expect((await troubledWithdrawals(ctx)).withdrawals).toMatchObject([
    { withdrawal_id: withdrawalId, tasks: [{ name: 'stuck' }] },
  ])

  const subjects: string[] = []
  ctx.apps.answer = async ({ body }) => {
    subjects.push(JSON.parse(body).data.subject)
    return { status: 204 }
  }
  expect((await retryWithdrawal(ctx, { withdrawalId })).retried_steps).toEqual(['third_party_integrations'])
  await runDueWork(ctx)
  expect(subjects).toEqual([`${email} at stuck`])
  expect(await withdrawalOf(ctx, withdrawalId)).toMatchObject({ completedAt: ctx.clock.now() })
  expect(await tablesWith(ctx, email)).toEqual([])
  expect(await tablesWith(ctx, withdrawalId)).toEqual([
    'audit_events',
    'deletion_steps',
    'withdrawal_receipts',
    'withdrawals',
  ])
  expect((await countWithdrawals(ctx)).processing).toBe(0)
})

test('a call that is made again before the purge leaves nothing behind it', async () => {
  ctx = await givenService()
  const caller = await givenCaller(ctx)
  await withdraw(caller)
  await ctx.settle()
  for (const days of [1, 28]) await pass(ctx, days * day)
  expect((await withdraw(caller)).code).toBe('WITHDRAWAL_002')
  ctx.clock.advance(day)
  await purgeRetainedData(ctx)
  expect(await tablesWith(ctx, caller.userId)).toEqual([])
})

test('an erasure that is still open after thirty days keeps the user id until it ends, and the purge does not wait', async () => {
  const { userId, email, withdrawalId } = await givenWithdrawal(ctx)
  const { archives } = ctx
  const away = { ...archives, delete: () => Promise.reject(new Error('the archive store is away')) }
  ctx.clock.advance(day)
  await expect(runDueWork({ ...ctx, archives: away })).rejects.toThrow()
  ctx.clock.advance(29 * day)
  expect(await purgeRetainedData(ctx)).toBe(1)
  expect(await purgeRetainedData(ctx)).toBe(0)
  expect(await tablesWith(ctx, email)).not.toContain('withdrawals')
  expect(await ctx.db.retainedRecord.count({ where: { withdrawalId } })).toBe(0)
  expect(await withdrawalOf(ctx, withdrawalId)).toMatchObject({ userId, feedback: null, completedAt: null })

  await runDueWork(ctx)
  expect(ctx.archived.size).toBe(0)
  expect(await tablesWith(ctx, userId)).toEqual([])
  expect(await tablesWith(ctx, withdrawalId)).toEqual(['deletion_steps', 'withdrawal_receipts', 'withdrawals'])
  expect(await withdrawalOf(ctx, withdrawalId)).toMatchObject({ userId: null, completedAt: ctx.clock.now() })
})

test('a step that ends after the purge retains nothing, even if it was claimed before', async () => {
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  ctx.clock.advance(30 * day)
  let purged = 0
  const late: TestContext = {
    ...ctx,
    transact: async (work) => {
      purged += await purgeRetainedData(ctx)
      return ctx.transact(work)
    },
  }
  await runDeletionStep(late, { withdrawalId, step: 'user_profile' })
  expect(purged).toBe(1)
  await runDueWork(ctx)
  expect(await tablesWith(ctx, userId)).toEqual([])
  expect(await tablesWith(ctx, withdrawalId)).toEqual(['deletion_steps', 'withdrawal_receipts', 'withdrawals'])
})
