import { expect, test } from 'vitest'
import { givenWithdrawal, type TestContext, testContext } from '@/testing/domain'
import type { AppAnswer } from '../ports'
import { runDeletionStep } from '../withdrawal/run-deletion-step'
import { showWithdrawal } from '../withdrawal/show-withdrawal'

const [second, hour] = [1_000, 3_600_000]

const step = 'third_party_integrations'

/** What each application answers, by its name. */
const answers = (ctx: TestContext, byName: Record<string, () => AppAnswer | Promise<AppAnswer>>) => {
  ctx.apps.answer = async ({ endpoint }) => byName[new URL(endpoint).host.replace('.test', '')]?.() ?? { status: 204 }
}

async function tiesOf(ctx: TestContext, userId: string) {
  const apps = new Map((await ctx.db.connectedApp.findMany()).map(({ id, name }) => [id, name]))
  const names = (rows: { appId: string }[]) => rows.map(({ appId }) => apps.get(appId)).sort()
  return {
    connections: names(await ctx.db.appConnection.findMany({ where: { userId } })),
    items: names(await ctx.db.sharedItem.findMany({ where: { userId } })),
  }
}

test('a completed task deletes connection and shared items, whatever another application answers', async () => {
  const ctx = await testContext()
  const bystander = await givenWithdrawal(ctx, ['shop'])
  const { userId, withdrawalId } = await givenWithdrawal(ctx, ['shop', 'gone', 'unknown', 'stuck'])
  answers(ctx, { gone: () => ({ status: 410 }), unknown: () => ({ status: 404 }), stuck: () => ({ status: 503 }) })
  ctx.clock.advance(hour)
  await runDeletionStep(ctx, { withdrawalId, step })
  expect(await tiesOf(ctx, userId)).toEqual({ connections: ['stuck'], items: ['stuck'] })
  expect(await tiesOf(ctx, bystander.userId)).toEqual({ connections: ['shop'], items: ['shop'] })
  answers(ctx, {})
  ctx.clock.advance(10 * second)
  expect(await runDeletionStep(ctx, { withdrawalId, step })).toBeNull()
  expect(await tiesOf(ctx, userId)).toEqual({ connections: [], items: [] })
})

test('an application that asks for an immediate retry is retried after the back-off of a first failure', async () => {
  const ctx = await testContext()
  const { withdrawalId } = await givenWithdrawal(ctx, ['eager'])
  answers(ctx, { eager: () => ({ status: 503, retryAfterMs: 0 }) })
  ctx.clock.advance(hour)
  for (let tries = 1; tries <= 3; tries++) {
    const nextTryAt = (await runDeletionStep(ctx, { withdrawalId, step })) as Date
    const waitMs = nextTryAt.getTime() - ctx.clock.now().getTime()
    expect(waitMs).toBe(5 * second)
    ctx.clock.advance(waitMs)
  }
})

test('the operator sees why an endpoint was not called', async () => {
  const ctx = await testContext()
  const { withdrawalId } = await givenWithdrawal(ctx, ['inside'])
  answers(ctx, { inside: () => ({ status: 0, problem: 'private_address' }) })
  ctx.clock.advance(hour)
  await runDeletionStep(ctx, { withdrawalId, step })
  expect(await showWithdrawal(ctx, withdrawalId)).toMatchObject({
    tasks: [{ name: 'inside', state: 'pending', last_error: 'private_address' }],
  })
})
