import { AppError } from '@/contract/errors'
import type { BucketState, Context, SystemContext } from '../context'
import type { CountedCalls, Process } from '../process'
import { noteBucket, secondsUntil } from './buckets'

const MIN_CLEANUP_SIZE = 10_000
type CountingContext = SystemContext & { buckets: BucketState[] }

/** Counted in this process only, so that a read never costs a write and a busy service never queues on one row. */
function takeCountedPlace(ctx: CountingContext, name: keyof Process['counted'], caller: string): void {
  const { places, windowMs } = ctx.limits[name]
  const calls = ctx.process.counted[name]
  const now = ctx.clock.now().getTime()
  let hits = calls.times.get(caller) ?? []
  // The times are in order, so those outside the window come first.
  const live = hits.findIndex((hit) => hit > now - windowMs)
  hits.splice(0, live < 0 ? hits.length : live)
  const granted = hits.length < places
  // `push` on an empty array reserves room for 17 times, and most callers read once.
  if (granted && hits.length > 0) hits.push(now)
  else if (granted) hits = [now]
  if (calls.times.size >= calls.cleanupSize) cleanUp(calls, now - windowMs)
  calls.times.set(caller, hits)
  const resetsAt = new Date((hits[0] ?? now) + windowMs)
  noteBucket(ctx, { name, places, windowMs, remaining: places - hits.length, resetsAt })
  if (!granted) throw new AppError('RATE_001', undefined, secondsUntil(resetsAt, new Date(now)))
}

/** Falls back to the withdrawal id, because the purge removes the user id. */
export const takeReadPlace = (ctx: Context): void =>
  takeCountedPlace(ctx, 'read', ctx.actor.userId || (ctx.actor.withdrawal?.id ?? ''))
/** For a read without a signed-in caller. */
export const takeReadPlaceOf = (ctx: CountingContext, caller: string): void => takeCountedPlace(ctx, 'read', caller)
export const takeServicePlace = (ctx: Context): void => takeCountedPlace(ctx, 'service', ctx.actor.id)

/** Removes the callers whose last call was before `before`. */
function cleanUp(calls: CountedCalls, before: number) {
  for (const [caller, hits] of calls.times) if ((hits.at(-1) ?? 0) <= before) calls.times.delete(caller)
  // The next cleanup waits until the number of callers has doubled, because each one looks at all of them.
  calls.cleanupSize = Math.max(MIN_CLEANUP_SIZE, 2 * calls.times.size)
}
