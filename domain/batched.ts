import { setTimeout } from 'node:timers/promises'
import type { SystemContext } from './context'

interface Queue<Item> {
  waiting: Item[]
  /** The run that has begun last, and the one that will take what comes until it begins. */
  running?: Promise<void>
  next?: Promise<void>
}

/** Nobody waits for what is batched; a run costs as much for one as for many. */
const GATHERING_MS = 20

/**
 * `work` with one run at a time in a process. Who comes while one is under way, or shortly after the first, shares the next, which
 * takes the items of all of them and sees what they have committed.
 */
export function batched<Item = never>(
  work: (ctx: SystemContext, items: Item[]) => Promise<void>,
): (ctx: SystemContext, ...items: Item[]) => Promise<void> {
  const queues = new WeakMap<object, Queue<Item>>()
  const runNext = async (ctx: SystemContext, queue: Queue<Item>) => {
    await queue.running?.catch(() => {})
    await setTimeout(GATHERING_MS)
    queue.running = queue.next
    queue.next = undefined
    await work(ctx, queue.waiting.splice(0))
  }
  return (ctx, ...items) => {
    // A request's context is a copy; its clock is the service's.
    const queue = queues.get(ctx.clock) ?? { waiting: [] }
    queues.set(ctx.clock, queue)
    queue.waiting.push(...items)
    queue.next ??= runNext(ctx, queue)
    return queue.next
  }
}
