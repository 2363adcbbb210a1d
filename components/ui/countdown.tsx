'use client'

import { inWords } from './duration'
import { useServerTime } from './server-clock'

interface CountdownProps {
  until: string
  /** When the server rendered the page: what it and the first render in the browser count from. */
  renderedAt: string
}

/** The time left, live. Not announced: a screen reader reads it when it comes by. */
export function Countdown({ until, renderedAt }: CountdownProps) {
  const seconds = (Date.parse(until) - useServerTime(renderedAt)) / 1000
  return (
    <time dateTime={until} className="tabular-nums">
      {inWords(seconds)}
    </time>
  )
}
