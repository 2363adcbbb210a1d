'use client'

import { useLocale } from 'use-intl/react'
import { formatDuration } from './duration'
import { useServerTime } from './server-clock'

/** The time left in words, updated live. */
export function useTimeLeft(until: string): string {
  const language = useLocale()
  return formatDuration((Date.parse(until) - useServerTime()) / 1000, language)
}

/** The time left, updated live. Screen readers do not announce each change. */
export function Countdown({ until }: { until: string }) {
  return (
    <time dateTime={until} className="tabular-nums">
      {useTimeLeft(until)}
    </time>
  )
}
