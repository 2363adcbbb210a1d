import { expect, test } from 'vitest'
import { asUser, givenUser, testContext } from '../testing'
import { purgeRetainedData } from './purge-retained-data'
import { runDueWork } from './run-due-work'
import { withdrawAccount } from './withdraw-account'

const day = 24 * 60 * 60 * 1000

test('everything that is due is purged at once, however many batches that takes', async () => {
  const ctx = await testContext()
  for (let count = 0; count < 5; count++) {
    const user = await givenUser(ctx)
    const { userId } = user
    await withdrawAccount(await asUser(ctx, user), { userId, confirmation: 'DELETE_MY_ACCOUNT' })
  }
  await ctx.settle()
  ctx.clock.advance(2 * day)
  await runDueWork(ctx)
  ctx.clock.advance(28 * day)
  expect(await purgeRetainedData(ctx, 2)).toBe(5)
  expect(await ctx.db.withdrawal.count({ where: { purgedAt: null } })).toBe(0)
})
