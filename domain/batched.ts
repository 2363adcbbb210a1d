import type { SystemContext } from './context'

interface Queue<Item> {
  waiting: Item[]
  now?: Promise<void>
  next?: Promise<void>
}

/**
 * `work` with one run at a time in a process. Who comes while one is under way shares the next, which takes the items of all of
 * them and sees what they have committed.
 */
export function batched<Item = never>(
  work: (ctx: SystemContext, items: Item[]) => Promise<void>,
): (ctx: SystemContext, ...items: Item[]) => Promise<void> {
  const queues = new WeakMap<object, Queue<Item>>()
  return (ctx, ...items) => {
    // A request's context is a copy; its clock is the service's.
    const queue = queues.get(ctx.clock) ?? { waiting: [] }
    queues.set(ctx.clock, queue)
    queue.waiting.push(...items)
    const run = () => {
      queue.next = undefined
      queue.now = work(ctx, queue.waiting.splice(0)).finally(() => {
        queue.now = undefined
      })
      return queue.now
    }
    if (!queue.now) return queue.next ?? run()
    queue.next ??= queue.now.then(run, run)
    return queue.next
  }
}
