'use client'

import { useLocale } from 'use-intl/react'
import { formatDuration } from './duration'
import { useServerTime } from './server-clock'

interface CountdownProps {
  until: string
  /** When the server rendered the page. The server and the first render in the browser count from it. */
  renderedAt: string
}

/** The time left in words, updated live. */
export function useTimeLeft({ until, renderedAt }: CountdownProps): string {
  const language = useLocale()
  return formatDuration((Date.parse(until) - useServerTime(renderedAt)) / 1000, language)
}

/** The time left, updated live. Screen readers do not announce each change. */
export function Countdown({ until, renderedAt }: CountdownProps) {
  const timeLeft = useTimeLeft({ until, renderedAt })
  return (
    <time dateTime={until} className="tabular-nums">
      {timeLeft}
    </time>
  )
}
