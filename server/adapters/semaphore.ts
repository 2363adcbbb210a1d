interface Semaphore {
  /** Rejects with EBUSY when no permit comes free in time. Each permit must be released. */
  acquire(): Promise<void>
  release(): void
}

/** Gives out `permits` at once; callers beyond them wait in the order of their arrival, for `maxWaitMs` at most. */
export function createSemaphore(permits: number, maxWaitMs: number): Semaphore {
  let free = permits
  const waiting = new Set<() => void>()
  return {
    acquire() {
      if (free > 0) {
        free--
        return Promise.resolve()
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const giveUp = () => {
        waiting.delete(begin)
        reject(Object.assign(new Error('busy'), { code: 'EBUSY' }))
      }
      const timer = setTimeout(giveUp, maxWaitMs).unref()
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      waiting.add(begin)
      return promise
    },
    release() {
      const [next] = waiting
      if (next) waiting.delete(next)
      else free++
      next?.()
    },
  }
}
