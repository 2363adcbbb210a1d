import { expect, test } from 'vitest'
import { asUser, givenUser, type TestContext, testContext } from '@/testing/domain'
import type { BucketState } from '../context'
import { hour, minute, second } from './durations'
import { takeReadPlace } from './reads'

async function givenReader(ctx: TestContext, limit = { places: 2, windowMs: minute }) {
  const caller = await asUser(ctx, await givenUser(ctx))
  const reader = { ...caller, limits: { ...ctx.limits, read: limit } }
  return (userId = caller.actor.userId) => {
    const own = { ...reader, buckets: [] as BucketState[], actor: { ...caller.actor, userId } }
    try {
      takeReadPlace(own)
      return { state: own.buckets[0] }
    } catch (error) {
      return { state: own.buckets[0], error }
    }
  }
}

test('reads are counted in a rolling window, and every answer shows the count', async () => {
  const ctx = await testContext()
  const read = await givenReader(ctx)
  const start = ctx.clock.now().getTime()
  const state = (remaining: number, resetsAt: number) => ({
    name: 'read',
    places: 2,
    windowMs: minute,
    remaining,
    resetsAt: new Date(start + resetsAt),
  })
  expect(read()).toEqual({ state: state(1, minute) })
  ctx.clock.advance(10 * second)
  expect(read()).toEqual({ state: state(0, minute) })
  expect(read()).toEqual({
    state: state(0, minute),
    error: expect.objectContaining({ code: 'RATE_001', retryAfterSeconds: 50 }),
  })
  ctx.clock.advance(50 * second - 1)
  expect(read().error).toMatchObject({ code: 'RATE_001', retryAfterSeconds: 1 })
  ctx.clock.advance(1)
  // The first read has left the window, the second has not.
  expect(read()).toEqual({ state: state(0, minute + 10 * second) })
  ctx.clock.advance(2 * minute)
  expect(read()).toEqual({ state: state(1, 4 * minute) })
})

test('without places no read passes, and the wait is a whole window', async () => {
  const ctx = await testContext()
  const read = await givenReader(ctx, { places: 0, windowMs: minute })
  expect(read()).toMatchObject({
    state: { remaining: 0, resetsAt: new Date(ctx.clock.now().getTime() + minute) },
    error: { retryAfterSeconds: 60 },
  })
})

test('L20 the cleanup of idle readers, when there are many, removes nobody whose calls still count', async () => {
  const ctx = await testContext()
  const read = await givenReader(ctx, { places: 1, windowMs: hour })
  expect(read('usr_first').error).toBeUndefined()
  ctx.clock.advance(minute)
  for (let n = 0; n < 10_050; n++) read(`usr_${n}`)
  const live = ['usr_first', 'usr_0', 'usr_5000', 'usr_10049']
  expect(live.filter((userId) => read(userId).error === undefined)).toEqual([])
  ctx.clock.advance(59 * minute)
  expect(read('usr_first').error).toBeUndefined()
  expect(live.slice(1).filter((userId) => read(userId).error === undefined)).toEqual([])
})
