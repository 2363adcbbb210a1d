'use client'

import { inWords } from './duration'
import { useServerTime } from './server-clock'

interface CountdownProps {
  until: string
  /** When the server rendered the page. The server and the first render in the browser count from it. */
  renderedAt: string
}

/** The time left, updated live. Screen readers do not announce each change. */
export function Countdown({ until, renderedAt }: CountdownProps) {
  const seconds = (Date.parse(until) - useServerTime(renderedAt)) / 1000
  return (
    <time dateTime={until} className="tabular-nums">
      {inWords(seconds)}
    </time>
  )
}
