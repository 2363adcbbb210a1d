import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again until there is an answer; what the probe throws counts as none. */
export async function until<T>(what: string, probe: () => Promise<T> | T, withinMs = 90_000): Promise<NonNullable<T>> {
  const end = Date.now() + withinMs
  let last: unknown
  while (Date.now() < end) {
    try {
      last = await probe()
      if (last) return last as NonNullable<T>
    } catch (error) {
      last = error
    }
    await sleep(50)
  }
  throw new Error(`not within ${withinMs / 1000} s: ${what}`, { cause: last })
}

/** What the promise is fulfilled with. One that hangs fails with a sentence, and not with the time limit of the test. */
export async function within<T>(what: () => string, promise: Promise<T>, ms = 30_000): Promise<T> {
  const enough = new AbortController()
  const late = sleep(ms, undefined, { signal: enough.signal }).then(() => {
    throw new Error(`not within ${ms / 1000} s: ${what()}`)
  })
  return Promise.race([promise, late]).finally(() => enough.abort())
}
