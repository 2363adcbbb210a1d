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

/** An instant in the viewer's time zone and format. The server does not know them, so the first render shows UTC. */
export function LocalTime({ dateTime, format = 'date-time' }: LocalTimeProps) {
  const hydrated = useHydrated()
  const instant = new Date(dateTime)
  const timeZone = hydrated ? undefined : 'UTC'
  // A date alone stays English, because its month is a word of the English sentence around it.
  const locale = hydrated && format !== 'date' ? undefined : 'en-GB'
  const text = new Intl.DateTimeFormat(locale, { ...formats[format], timeZone }).format(instant)
  return (
    <time dateTime={dateTime} className="whitespace-nowrap">
      {text}
      {!hydrated && format !== 'date' && ' UTC'}
    </time>
  )
}
