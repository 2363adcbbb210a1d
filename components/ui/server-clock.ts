'use client'

import { useSyncExternalStore } from 'react'

let offset: number | undefined
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/**
 * Learns the service's time from the Date header of an answer. That header is cut to the second, so the service is at least
 * this far; the latest of these is the closest, and a countdown made from it never ends before the service's own.
 */
export function noteServerDate(date: string | null) {
  const serverTime = date ? Date.parse(date) : Number.NaN
  if (Number.isNaN(serverTime)) return
  const seen = serverTime - Date.now()
  const sameClock = offset !== undefined && Math.abs(seen - offset) < 5_000
  offset = sameClock ? Math.max(seen, offset ?? seen) : seen
}

/** `fetch`, which learns the service's time on the way. */
export const fetchOnServerClock: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  noteServerDate(response.headers.get('Date'))
  return response
}

/** The service's time in milliseconds, as well as this browser knows it. */
export const serverNow = () => Date.now() + (offset ?? 0)

const wholeSecond = () => Math.floor(serverNow() / 1000) * 1000

function subscribe(listener: () => void) {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const notify of listeners) notify()
  }, 250)
  return () => {
    listeners.delete(listener)
    if (listeners.size) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The service's time in milliseconds, rendered again each second; on the server and in the first render, when the page was made. */
export const useServerTime = (renderedAt: string) =>
  useSyncExternalStore(subscribe, wholeSecond, () => Date.parse(renderedAt))
