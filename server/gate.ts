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
    async enter() {
      if (free > 0) {
        free--
        return
      }
      const turn = Promise.withResolvers<void>()
      const busy = Object.assign(new Error('busy'), { code: 'EBUSY' })
      const timer = setTimeout(turn.reject, mostWaitMs, busy).unref()
      waiting.add(turn.resolve)
      await turn.promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(turn.resolve)
      })
    },
    leave() {
      const [next] = waiting
      if (next) waiting.delete(next)
      else free++
      next?.()
    },
  }
}
