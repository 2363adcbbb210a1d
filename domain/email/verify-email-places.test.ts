import { expect, test, vi } from 'vitest'
import { givenPendingChange, verifyChange as verify, wrongCode } from '@/testing/account'
import { givenUser, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { type Bucket, takePlaces, userBucket, type WantedPlaces } from '../limits/buckets'
import { hour } from '../limits/durations'

// No operation takes two places in the statement of a verification yet: here it takes a second one.
const more = vi.hoisted(() => ({ buckets: [] as Bucket[] }))

vi.mock('../limits/buckets', async (importOriginal) => {
  const original = await importOriginal<typeof import('../limits/buckets')>()
  const withMore = ({ take, ...wanted }: WantedPlaces) => ({ ...wanted, take: [...take, ...more.buckets] })
  const { judgePlaces, takeValues } = original
  return {
    ...original,
    takeValues: (wanted: WantedPlaces, now: Date) => takeValues(withMore(wanted), now),
    judgePlaces: (...[ctx, wanted, rows, now]: Parameters<typeof judgePlaces>) =>
      judgePlaces(ctx, withMore(wanted), rows, now),
  }
})

test('a verification that one of two limits refuses answers at once, and takes no place of the other', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const pending = await givenPendingChange(ctx, user)
  ctx.limits.verify = { places: 1, windowMs: hour }
  await verify(ctx, user, pending, wrongCode(pending.code)).catch(() => {})
  const second = userBucket(ctx, 'withdraw', user.userId)
  // At the time of the call, so that whoever looks for its place from outside finds this one and waits for the call.
  await takePlaces(ctx, { take: [second] })
  more.buckets = [second]
  expect(await outcomeOf(verify(ctx, user, pending))).toBe('RATE_001')
  expect(await ctx.db.rateLimit.findUnique({ where: { key: second.key } })).toMatchObject({ hits: [ctx.clock.now()] })
  const where = { id: pending.change_request_id }
  expect(await ctx.db.emailChangeRequest.findUniqueOrThrow({ where })).toMatchObject({ attempts: 1 })
})
