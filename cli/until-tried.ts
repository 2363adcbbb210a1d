import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadInput } from './command.ts'

/** A sweep beside an engine comes within a minute, and a call takes ten seconds at most. */
const WAIT_MS = 75_000
const PAUSE_MS = 500

export const WAITS = 'It is tried within a minute. Ctrl-C ends the wait alone.\n'
export const NOT_TRIED = 'It was not tried in 75 seconds: check that the service runs.'

/** Whether somebody looks on: programs, and a batch, go on at once. */
export const isWatched = (readInput: ReadInput) => readInput !== null && process.stdout.isTTY === true

/** Reads again until nothing is due any more that was tried again, or for so long; says which of the two. */
export async function untilTried<T>(
  read: () => Promise<T>,
  isDue: (read: T) => boolean,
  waitMs = WAIT_MS,
): Promise<{ last: T; isTried: boolean }> {
  const endsAt = performance.now() + waitMs
  for (;;) {
    const last = await read()
    if (!isDue(last)) return { last, isTried: true }
    if (performance.now() >= endsAt) return { last, isTried: false }
    await sleep(PAUSE_MS)
  }
}

/** Whether it is still to be tried or is being tried; an app that fetches its tasks is not waited for. */
export const isDueAt =
  (now: Date) =>
  ({ due_at, state, polls }: { due_at: string | null; state?: string; polls?: boolean }): boolean =>
    !polls && (state === 'calling' || (due_at !== null && Date.parse(due_at) <= now.getTime()))
