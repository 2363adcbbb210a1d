import { expect, test } from 'vitest'
import type { AppAnswer } from '../context'
import { asUser, givenUser, type TestContext, testContext } from '../testing'
import { connectApp, registerApp } from './connected-applications'
import { runDeletionStep } from './run-deletion-step'
import { withdrawAccount } from './withdraw-account'

const [second, hour] = [1_000, 3_600_000]

/** A user who withdraws from these applications; each shares an item with the service. */
async function givenWithdrawal(ctx: TestContext, names: string[]) {
  const user = await givenUser(ctx)
  const { userId } = user
  for (const name of names) {
    const endpoint = `https://${name}.test/hook`
    const appId = await registerApp(ctx, { name, endpoint, secret: 'whsec_c2VjcmV0' })
    await connectApp(ctx, { userId, appId, subject: `subject at ${name}` })
    await ctx.db.sharedItem.create({
      data: { id: `shr_${appId}`, userId, appId, content: 'shared', sharedAt: ctx.clock.now() },
    })
  }
  const input = { userId, confirmation: 'DELETE_MY_ACCOUNT' as const }
  const { withdrawal_id: withdrawalId } = await withdrawAccount(await asUser(ctx, user), input)
  await ctx.settle()
  return { userId, withdrawalId, step: 'third_party_integrations' as const }
}

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

test('connection and shared items go with the news, whatever another application answers', async () => {
  const ctx = await testContext()
  const bystander = await givenWithdrawal(ctx, ['shop'])
  const { userId, ...due } = await givenWithdrawal(ctx, ['shop', 'gone', 'unknown', 'stuck'])
  answers(ctx, { gone: () => ({ status: 410 }), unknown: () => ({ status: 404 }), stuck: () => ({ status: 503 }) })
  ctx.clock.advance(hour)
  await runDeletionStep(ctx, due)
  expect(await tiesOf(ctx, userId)).toEqual({ connections: ['stuck'], items: ['stuck'] })
  expect(await tiesOf(ctx, bystander.userId)).toEqual({ connections: ['shop'], items: ['shop'] })
  answers(ctx, {})
  ctx.clock.advance(10 * second)
  expect(await runDeletionStep(ctx, due)).toBeNull()
  expect(await tiesOf(ctx, userId)).toEqual({ connections: [], items: [] })
})

test('an application that asks to be tried again at once is waited for as long as after a first failure', async () => {
  const ctx = await testContext()
  const due = await givenWithdrawal(ctx, ['eager'])
  answers(ctx, { eager: () => ({ status: 503, retryAfterMs: 0 }) })
  ctx.clock.advance(hour)
  for (let tries = 1; tries <= 3; tries++) {
    const nextTryAt = (await runDeletionStep(ctx, due)) as Date
    const waitMs = nextTryAt.getTime() - ctx.clock.now().getTime()
    expect(waitMs).toBe(5 * second)
    ctx.clock.advance(waitMs)
  }
})
