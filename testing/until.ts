import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_PAUSE_MS = 50
/** A probe that reads the API stays below the read limit of 300 a minute. */
const MAX_PAUSE_MS = 250

/** The pause before each further probe. It grows, because most waits are short. */
const pauseAfter = (looks: number): number => Math.min(FIRST_PAUSE_MS * 1.1 ** (looks - 1), MAX_PAUSE_MS)

/** Repeats the probe until it returns a truthy value. An error counts as none. The failure after the timeout names the last result. */
export async function until<T>(what: string, probe: () => Promise<T> | T, withinMs = 90_000): Promise<NonNullable<T>> {
  const endsAt = Date.now() + withinMs
  for (let looks = 1; ; looks++) {
    let last: unknown
    try {
      last = await probe()
      if (last) return last as NonNullable<T>
    } catch (error) {
      last = error
    }
    if (Date.now() >= endsAt) {
      const lastText = last instanceof Error ? last.message : JSON.stringify(last)
      throw new Error(`not within ${withinMs / 1000} s: ${what}; at last: ${lastText}`, { cause: last })
    }
    await sleep(pauseAfter(looks))
  }
}

/** Returns the answer if it has this status. The error names any other, so that a failing `until` shows it. */
export function withStatus<A extends { status: number }>(status: number, answer: A): A {
  if (answer.status === status) return answer
  throw new Error(JSON.stringify({ status: answer.status, ...('body' in answer && { body: answer.body }) }))
}

/** Asks again while the service is too busy to answer, as a person does. */
export const answered = <A extends { status: number }>(ask: () => Promise<A>): Promise<A> =>
  until('an answer', async () => {
    const answer = await ask()
    return answer.status !== 503 && answer
  }) as Promise<A>

/** Returns the value of the promise. If it hangs, the failure names it, before the time limit of the test. */
export async function within<T>(what: () => string, promise: Promise<T>, ms = 30_000): Promise<T> {
  const enough = new AbortController()
  const late = sleep(ms, undefined, { signal: enough.signal }).then(() => {
    throw new Error(`not within ${ms / 1000} s: ${what()}`)
  })
  return Promise.race([promise, late]).finally(() => enough.abort())
}
