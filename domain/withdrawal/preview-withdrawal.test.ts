import fc from 'fast-check'
import { expect, test } from 'vitest'
import { STEPS } from '@/contract/withdrawal'
import { asUser, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { LATER_STEPS } from '@/testing/later-steps'
import { outcomeOf } from '@/testing/outcomes'
import { givenRows, ROWS, readDeletionCounts } from '@/testing/rows'
import { atStatement } from '@/testing/statements'
import { withdrawAs } from '@/testing/withdrawals'
import { connectApp } from '../applications/connect'
import { registerApp } from '../applications/manage'
import { day } from '../limits/durations'
import { DELETION_MAP } from './deletion-map'
import { previewWithdrawal } from './preview-withdrawal'
import { runDeletionStep } from './run-deletion-step'

const TABLES = Object.keys(ROWS)

const preview = async (ctx: TestContext, user: TestUser, query: object = {}) =>
  previewWithdrawal(await asUser(ctx, user), { userId: user.userId, ...query })

/** The rows that the steps deleted and kept, in the form of the preview. */
async function run(ctx: TestContext, user: TestUser, choices: object) {
  const { id: withdrawalId } = await withdrawAs(ctx, user, { data_retention: choices })
  for (const step of LATER_STEPS) {
    ctx.clock.advance(day)
    await runDeletionStep(ctx, { withdrawalId, step })
  }
  const { purgeDueAt, completedAt } = await ctx.db.withdrawal.findUniqueOrThrow({ where: { id: withdrawalId } })
  expect(completedAt).not.toBeNull()
  const until = purgeDueAt.toISOString()
  const counts = await ctx.sql(readDeletionCounts, { withdrawalId })
  return {
    erased: counts.filter(({ outcome }) => outcome === 'erased').map(({ outcome: _, ...count }) => count),
    retained: counts
      .filter(({ outcome }) => outcome !== 'erased')
      .map(({ step: _, outcome: reason, ...count }) => ({ ...count, reason, until })),
  }
}

/** In one order. */
const sorted = <T extends { category: string; step?: string; records: number }>(counts: readonly T[]) =>
  counts.toSorted((a, b) => (`${a.category} ${a.step} ${a.records}` < `${b.category} ${b.step} ${b.records}` ? -1 : 1))

const YES_OR_NO = [true, false]
const EVERY_CHOICE = YES_OR_NO.flatMap((analytics) =>
  YES_OR_NO.flatMap((audit_logs) =>
    YES_OR_NO.map((transaction_history) => ({ analytics, audit_logs, transaction_history })),
  ),
)

test('every table that a step erases has rows in testing/rows.ts', () => {
  const erased = DELETION_MAP.filter(({ when, table }) => when !== 'purge' && table !== 'users')
  expect([...new Set(erased.map(({ table }) => table))].sort()).toEqual([...TABLES].sort())
})

test('I13 for any person and any choices, the preview counts what the steps then delete and keep', async () => {
  const ctx = await testContext()
  for (const name of ['one', 'two', 'three']) {
    await registerApp(ctx, { name, endpoint: `https://${name}.test/hook`, secret: 'whsec_c2VjcmV0' })
  }
  const rows = fc.record(Object.fromEntries(TABLES.map((table) => [table, fc.nat({ max: 3 })])))
  for (const keeps of EVERY_CHOICE) {
    const holds = fc.asyncProperty(rows, async (many) => {
      await ctx.db.$executeRaw`TRUNCATE users, withdrawals, transactions, archives, shared_items CASCADE`
      const user = await givenUser(ctx)
      await givenRows(ctx, user.userId, many)
      const query = Object.fromEntries(Object.entries(keeps).map(([name, kept]) => [name, String(kept)]))
      const before = await preview(ctx, user, query)
      const after = await run(ctx, user, keeps)
      expect(sorted(before.erased)).toEqual(sorted(after.erased))
      expect(sorted(before.retained)).toEqual(sorted(after.retained))
    })
    await fc.assert(holds, { numRuns: 2 })
  }
}, 120_000)

test('a preview counts up to ten thousand and says when there are more', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await givenRows(ctx, user.userId, { analytics_events: 10_000, cache_entries: 10_001, security_incidents: 12_000 })
  const { erased, retained } = await preview(ctx, user)
  expect(erased).toContainEqual({ category: 'analytics', records: 10_000, step: 'data_archives' })
  expect(erased).toContainEqual({ category: 'caches', records: 10_000, more: true, step: 'data_archives' })
  expect(retained).toContainEqual({
    category: 'security_incidents',
    records: 10_000,
    more: true,
    reason: 'law',
    until: '2026-12-20T09:00:00.000Z',
  })
})

test('a preview shows the times, the applications and the last change of the address, and changes nothing', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { appId } = await registerApp(ctx, { name: 'Shop', endpoint: 'https://shop.test', secret: 'whsec_c2VjcmV0' })
  await connectApp(ctx, { userId: user.userId, appId, subject: 'ada' })
  await givenRows(ctx, user.userId, { email_change_requests: 1 })
  expect(await preview(ctx, user)).toMatchObject({ address_changed_at: null })
  await ctx.db
    .$executeRaw`UPDATE email_change_requests SET new_email = 'other', closed_at = '2026-11-19T09:00:00Z' WHERE user_id = ${user.userId}`
  const seen = await preview(ctx, user)
  expect(seen).toMatchObject({
    address: user.email,
    allowed: true,
    blockers: [],
    applications: [{ name: 'Shop', acknowledges: 'at_once' }],
    address_changed_at: '2026-11-19T09:00:00.000Z',
    counted_at: '2026-11-20T09:00:00.000Z',
  })
  expect(seen.deletion_steps.map(({ step }) => step)).toEqual([...STEPS])
  expect(seen.deletion_steps[0]).toEqual({
    step: 'user_profile',
    begins_at: '2026-11-20T09:05:00.000Z',
    estimated_completion: '2026-11-20T10:00:00.000Z',
  })
  expect(await ctx.db.withdrawal.count({ where: { userId: user.userId } })).toBe(0)
  expect(await preview(ctx, user)).toEqual(seen)
})

test('a preview that cannot count is refused, and never leaves a number out', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const broken = atStatement(ctx, 'preview-withdrawal', () => Promise.reject(new Error('no such table')))
  expect(await outcomeOf(preview(broken, user))).toBe('SERVER_002')
  expect(ctx.warnings).toEqual([{ event: 'preview_failed', problem: 'Error' }])
})
