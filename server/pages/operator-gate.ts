export interface Gate {
  /** Rejects with EBUSY when the turn does not come in time. Who has entered has to leave. */
  enter(): Promise<void>
  leave(): void
}

/** So many at once; who comes later enters in the order of arrival. */
export function createGate(places: number, mostWaitMs: number): Gate {
  let free = places
  const waiting = new Set<() => void>()
  return {
    enter() {
      if (free > 0) {
        free--
        return Promise.resolve()
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const giveUp = () => {
        waiting.delete(begin)
        reject(Object.assign(new Error('busy'), { code: 'EBUSY' }))
      }
      const timer = setTimeout(giveUp, mostWaitMs).unref()
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      waiting.add(begin)
      return promise
    },
    leave() {
      const [next] = waiting
      if (next) waiting.delete(next)
      else free++
      next?.()
    },
  }
}
