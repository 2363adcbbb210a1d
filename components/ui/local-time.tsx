'use client'

import { useHydrated } from './use-hydrated'

const formats = {
  date: { dateStyle: 'long' },
  'date-time': { dateStyle: 'medium', timeStyle: 'short' },
  time: { timeStyle: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

interface LocalTimeProps {
  dateTime: string
  format?: keyof typeof formats
}

/** An instant in the viewer's language and time zone; in UTC until the browser, which alone knows both, takes over. */
export function LocalTime({ dateTime, format = 'date-time' }: LocalTimeProps) {
  const hydrated = useHydrated()
  const instant = new Date(dateTime)
  const text = hydrated
    ? new Intl.DateTimeFormat(undefined, formats[format]).format(instant)
    : new Intl.DateTimeFormat('en-GB', { ...formats[format], timeZone: 'UTC' }).format(instant)
  return (
    <time dateTime={dateTime} className="whitespace-nowrap">
      {text}
      {!hydrated && format !== 'date' && ' UTC'}
    </time>
  )
}
