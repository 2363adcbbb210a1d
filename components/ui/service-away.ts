'use client'

import { announce, onChange, useFact } from './page-fact'

const LOOK_AGAIN_MS = 3_000

let timer: ReturnType<typeof setInterval> | undefined

const isAway = () => timer !== undefined

/** Says that the service, which has this URL, is away, and looks until it is back. */
export function lookUntilBack(url: string) {
  if (isAway()) return
  const ready = new URL('/api/health/ready', new URL(url, window.location.href))
  timer = setInterval(async () => {
    // A page of another origin may not read the answer, only that there is one.
    const answer = await fetch(ready, { cache: 'no-store', mode: 'no-cors' }).catch(() => null)
    if (answer?.ok || answer?.type === 'opaque') noteAnswer()
  }, LOOK_AGAIN_MS)
  announce()
}

/** The service has answered, and is back if it was away. */
export function noteAnswer() {
  if (!isAway()) return
  clearInterval(timer)
  timer = undefined
  announce()
}

/** Calls `then` once the service, which did not answer, is back. Returns how to stop waiting for that. */
export function onceBack(then: () => void) {
  const stop = onChange(() => {
    if (isAway()) return
    stop()
    then()
  })
  return stop
}

/** Whether the last call of this page found the service away, and it is not back yet. */
export const useIsAway = () => useFact(isAway, false)
