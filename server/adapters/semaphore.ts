/** Gives out `permits` at once; callers beyond them wait in the order of their arrival. */
export function createSemaphore(
  permits: number,
  { maxWaitMs, maxWaiting = Number.POSITIVE_INFINITY }: { maxWaitMs: number; maxWaiting?: number },
) {
  let free = permits
  const waiting = new Set<() => void>()
  const busy = () => Object.assign(new Error('busy'), { code: 'EBUSY' })
  return {
    /**
     * Rejects with EBUSY when too many wait already, when no permit comes free in time, or when `signal` is aborted first. Each permit
     * must be released.
     */
    async acquire(signal?: AbortSignal): Promise<void> {
      if (signal?.aborted) throw busy()
      if (free > 0) {
        free--
        return
      }
      if (waiting.size >= maxWaiting) throw busy()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const leave = () => {
        waiting.delete(begin)
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
      }
      const begin = () => {
        leave()
        resolve()
      }
      const giveUp = () => {
        leave()
        reject(busy())
      }
      const timer = setTimeout(giveUp, maxWaitMs).unref()
      signal?.addEventListener('abort', giveUp)
      waiting.add(begin)
      return promise
    },
    release() {
      const [next] = waiting
      if (next) next()
      else free++
    },
    waiting: () => waiting.size,
  }
}
