import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import type { Step } from '@/contract/withdrawal'
import { pass, type TestContext, testContext } from '@/testing/domain'
import { givenRows, readDeletionCounts } from '@/testing/rows'
import { givenWithdrawal, readProgress } from '@/testing/withdrawals'
import type { DeletionCount } from './deletion-counts'
import { day, hour, minute } from './limits/durations'
import { FIRST_BATCH } from './withdrawal/erase'
import { purgeRetainedData } from './withdrawal/purge-retained-data'
import { listReceipts } from './withdrawal/receipts/receipts'
import { runDeletionStep } from './withdrawal/run-deletion-step'

const MANY = 1.5 * FIRST_BATCH

/** The counts of these categories as `category outcome records`. */
async function countsOf(ctx: TestContext, withdrawalId: string, step: DeletionCount['step'], categories: string[]) {
  const rows = await ctx.sql(readDeletionCounts, { withdrawalId })
  return rows
    .filter((row) => row.step === step && categories.includes(row.category))
    .map(({ category, outcome, records }) => `${category} ${outcome} ${records}`)
    .sort()
}

const givenIncidents = (ctx: TestContext, userId: string, many: number) =>
  givenRows(ctx, userId, { security_incidents: many, preferences: many })

test('I14 a step that crashes between two batches, and runs again, counts and keeps every row once', async () => {
  const ctx = await testContext()
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  await givenIncidents(ctx, userId, MANY)
  ctx.clock.advance(5 * minute)
  let transactions = 0
  const crashing: TestContext = {
    ...ctx,
    // The second batch deletes and counts, and is rolled back.
    transact: (work) =>
      ctx.transact(async (...of) => {
        const result = await work(...of)
        if (++transactions === 2) throw new Error('killed')
        return result
      }),
  }
  const step = { withdrawalId, step: 'user_profile' as Step }
  await expect(runDeletionStep(crashing, step)).rejects.toThrow('user_profile failed')
  expect(await countsOf(ctx, withdrawalId, 'user_profile', ['account', 'preferences'])).toEqual([
    `preferences erased ${FIRST_BATCH}`,
  ])
  expect(await ctx.db.user.count({ where: { id: userId } })).toBe(1)
  ctx.clock.advance(minute)
  await runDeletionStep(ctx, step)
  const categories = ['account', 'preferences', 'sessions', 'security_incidents']
  expect(await countsOf(ctx, withdrawalId, 'user_profile', categories)).toEqual([
    'account erased 1',
    `preferences erased ${MANY}`,
    `security_incidents law ${MANY}`,
    'sessions erased 1',
  ])
  expect(await ctx.db.retainedRecord.count({ where: { withdrawalId, source: 'security_incidents' } })).toBe(MANY)
})

test('shared items count in the step that told their application, whichever statement deleted them', async () => {
  const ctx = await testContext()
  ctx.apps.answer = async ({ endpoint }) => ({ status: endpoint.includes('stuck') ? 503 : 204 })
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop', 'stuck'])
  await pass(ctx, hour)
  const counted = () => countsOf(ctx, withdrawalId, 'third_party_integrations', ['connections', 'shared_data'])
  expect(await counted()).toEqual(['connections erased 1', 'shared_data erased 1'])
  ctx.clock.advance(30 * day)
  await purgeRetainedData(ctx)
  expect(await counted()).toEqual(['connections erased 2', 'shared_data erased 2'])
})

test('the receipt of the purge counts the kept records that it deletes, and no count outlives it', async () => {
  const ctx = await testContext()
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  await givenIncidents(ctx, userId, MANY)
  await pass(ctx, day)
  ctx.clock.advance(30 * day)
  await purgeRetainedData(ctx)
  const { receipts } = await listReceipts(ctx, { withdrawalId })
  expect(decodeJwt(receipts[2]?.receipt as string)).toMatchObject({
    kind: 'purge',
    erased: [
      { category: 'security_incidents', records: MANY },
      { category: 'legal_records', records: 1 },
      { category: 'ended_credentials', records: 1 },
    ],
  })
  expect(await ctx.sql(readDeletionCounts, { withdrawalId })).toEqual([])
})

test('the answer shows the counts of a completed step, and none of a step that an older release completed', async () => {
  const ctx = await testContext()
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  await givenIncidents(ctx, userId, 2)
  await pass(ctx, 5 * minute)
  const stepOf = async (name: Step) =>
    (await readProgress(ctx, userId, withdrawalId)).deletion_steps.find(({ step }) => step === name)
  const { purgeDueAt } = await ctx.db.withdrawal.findUniqueOrThrow({ where: { id: withdrawalId } })
  const done = await stepOf('user_profile')
  expect(done?.erased).toContainEqual({ category: 'preferences', records: 2 })
  const until = purgeDueAt.toISOString()
  expect(done?.retained).toEqual([
    { category: 'security_incidents', records: 2, reason: 'law', until },
    { category: 'legal_records', records: 1, reason: 'law', until },
  ])
  expect(await stepOf('session_revocation')).toMatchObject({ erased: [], retained: [] })
  expect(await stepOf('data_archives')).not.toHaveProperty('erased')
  await ctx.db.deletionStep.updateMany({ where: { withdrawalId }, data: { isCounted: false } })
  expect(await stepOf('user_profile')).not.toHaveProperty('erased')
})
