import { expect, test } from 'vitest'
import { asUser, givenPendingChange, givenUser, outcomeOf, type TestContext, testContext } from '@/testing/domain'
import type { PendingChange } from './context'
import {
  codeExpiresAt,
  isExhausted,
  isExpired,
  requireOpenChange,
  requireStillOpenChange,
  resendAvailableAt,
} from './pending-change'

const minute = 60_000
const hour = 60 * minute

const at = (ctx: TestContext, ms: number) => new Date(ctx.clock.now().getTime() + ms)

/** A caller. The token check saw the pending change as open, or as `seen` says. */
async function givenCaller(seen: Partial<PendingChange> = {}) {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await givenPendingChange(ctx, user)
  const caller = await asUser(ctx, user)
  const pendingChange = { ...(caller.actor.pendingChange as PendingChange), ...seen }
  return { ctx, caller: { ...caller, actor: { ...caller.actor, pendingChange } }, change: pendingChange }
}

const refusalToOpen = (...args: Parameters<typeof requireOpenChange>) =>
  outcomeOf((async () => requireOpenChange(...args))())

test('a change is exhausted after its last attempt', async () => {
  const ctx = await testContext({ codeAttempts: 5 })
  expect([0, 4, 5, 6].map((attempts) => isExhausted(ctx, { attempts }))).toEqual([false, false, true, true])
})

test('a change expires in the very millisecond that it names', async () => {
  const ctx = await testContext()
  expect([1, 0, -1].map((ms) => isExpired(ctx, { expiresAt: at(ctx, ms) }))).toEqual([false, true, true])
})

test('the next message is possible five minutes after the last one', async () => {
  const ctx = await testContext()
  expect(resendAvailableAt(ctx, { sentAt: at(ctx, 0) })).toEqual(at(ctx, 5 * minute))
})

test('a code expires with its own validity or with its request, whichever is first', async () => {
  const ctx = await testContext()
  const requestedAt = at(ctx, 0)
  expect(codeExpiresAt(ctx, at(ctx, 0), requestedAt)).toEqual(at(ctx, 12 * hour))
  expect(codeExpiresAt(ctx, at(ctx, 11 * hour), requestedAt)).toEqual(at(ctx, 23 * hour))
  expect(codeExpiresAt(ctx, at(ctx, 13 * hour), requestedAt)).toEqual(at(ctx, 24 * hour))
})

test('an open change is found only by its own id', async () => {
  const { caller, change } = await givenCaller()
  expect(requireOpenChange(caller, change.id)).toBe(change)
  expect(await refusalToOpen(caller, 'ecr_other')).toBe('EMAIL_006')
  const without = { ...caller, actor: { ...caller.actor, pendingChange: null } }
  expect(await refusalToOpen(without, change.id)).toBe('EMAIL_006')
})

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
