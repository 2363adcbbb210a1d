'use client'

import { createContext, useContext, useSyncExternalStore } from 'react'
import { lookUntilBack, noteAnswer } from './service-away'

let offset: number | undefined
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/**
 * Learns the service's time from an answer. Every answer is older than its arrival, so the largest offset seen is the most exact, and
 * a countdown made from it never ends before the service's own.
 */
function noteServerTime(serverTime: number) {
  if (Number.isNaN(serverTime)) return
  const seen = serverTime - Date.now()
  const sameClock = offset !== undefined && Math.abs(seen - offset) < 5_000
  offset = sameClock ? Math.max(seen, offset ?? seen) : seen
}

/** A page counts by the service's clock from its first moment, however wrong the clock of its browser is. */
export function startServerClock(renderedAt: string) {
  if (offset !== undefined || typeof window === 'undefined') return
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  noteServerTime(Date.parse(renderedAt) + performance.now() - (navigation?.responseStart ?? 0))
}

/** A read whose answer has not begun in this time is told like one that nothing answers. What it brings may take longer. */
const MAX_READ_MS = 15_000

/** Of a proxy whose service is away, and of a service that cannot reach its data. */
const isAwayAnswer = ({ status }: Response, body: { error?: { code?: string } } | null) =>
  [502, 503, 504].includes(status) && (body?.error?.code ?? 'SERVER_002') === 'SERVER_002'

/**
 * `fetch` that also learns the service's time, from the answer's timestamp or from its Date header, which has no milliseconds, and
 * whether the service is away.
 */
export const fetchOnServerClock: typeof fetch = async (input, init) => {
  const wait = new AbortController()
  const isRead = (init?.method ?? 'GET') === 'GET'
  const limit = isRead ? setTimeout(() => wait.abort(), MAX_READ_MS) : undefined
  const response = await fetch(input, { ...init, signal: wait.signal })
    .catch((error) => {
      lookUntilBack(String(input))
      throw error
    })
    .finally(() => clearTimeout(limit))
  const body = await response
    .clone()
    .json()
    .catch(() => null)
  if (isAwayAnswer(response, body)) lookUntilBack(String(input))
  else noteAnswer()
  noteServerTime(Date.parse(body?.timestamp ?? response.headers.get('Date') ?? ''))
  return response
}

/** The service's time in milliseconds, as exactly as this browser knows it. */
export const serverNow = () => Date.now() + (offset ?? 0)

const quarterSecond = () => Math.floor(serverNow() / 250) * 250

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

/** When the server rendered the page. The server and the first render in the browser count from it. */
export const RenderedAt = createContext('')

/** The service's time in milliseconds, updated four times a second. */
export function useServerTime(): number {
  const renderedAt = useContext(RenderedAt)
  return useSyncExternalStore(subscribe, quarterSecond, () => Date.parse(renderedAt))
}
