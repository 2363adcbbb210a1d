import { expect, test } from 'vitest'
import { asUser, givenPendingChange, givenUser, outcomeOf, type TestContext, testContext } from '@/testing/domain'
import type { PendingChange } from './context'
import { requireStillOpenChange } from './pending-change'

const minute = 60_000
const hour = 60 * minute

const _at = (ctx: TestContext, ms: number) => new Date(ctx.clock.now().getTime() + ms)

/** A caller. The token check saw the pending change as open, or as `seen` says. */
async function givenCaller(seen: Partial<PendingChange> = {}) {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await givenPendingChange(ctx, user)
  const caller = await asUser(ctx, user)
  const pendingChange = { ...(caller.actor.pendingChange as PendingChange), ...seen }
  return { ctx, caller: { ...caller, actor: { ...caller.actor, pendingChange } }, change: pendingChange }
}

test('after a lost race the refusal follows the current row', async () => {
  const { ctx, caller, change } = await givenCaller({ attempts: 5, expiresAt: new Date(0) })
  const now = () => outcomeOf(requireStillOpenChange(caller, change.id))
  expect(await now()).toBe('accepted')
  await ctx.db.emailChangeRequest.update({ where: { id: change.id }, data: { attempts: 5 } })
  expect(await now()).toBe('EMAIL_005')
  ctx.clock.advance(12 * hour)
  expect(await now()).toBe('EMAIL_004')
  await ctx.db.emailChangeRequest.update({ where: { id: change.id }, data: { status: 'superseded' } })
  expect(await now()).toBe('EMAIL_006')
})

test('an error while the row is read again is not reported as a refusal', async () => {
  const { caller, change } = await givenCaller()
  const broken = {
    ...caller,
    clock: {
      now: () => {
        throw new RangeError('no clock')
      },
    },
  }
  await expect(requireStillOpenChange(broken, change.id)).rejects.toThrow(RangeError)
})
