'use client'

import { useLocale } from 'use-intl/react'
import { dateTag } from '@/contract/languages'
import { useHydrated } from './use-hydrated'

const formats = {
  date: { dateStyle: 'long' },
  'date-time': { dateStyle: 'long', timeStyle: 'short' },
  time: { timeStyle: 'short' },
  /** With the time zone, for what is printed. It is long, so that it may take two lines. */
  exact: { dateStyle: 'long', timeStyle: 'long' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

interface LocalTimeProps {
  dateTime: string
  format?: keyof typeof formats
}

/** An instant in the reader's language and time zone, and the exact time in its title. The server does not know the zone: it shows UTC. */
export function LocalTime({ dateTime, format = 'date-time' }: LocalTimeProps) {
  const language = useLocale()
  const hydrated = useHydrated()
  const instant = new Date(dateTime)
  const timeZone = hydrated ? undefined : 'UTC'
  const say = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(dateTag(language), { ...options, timeZone }).format(instant)
  return (
    <time
      dateTime={dateTime}
      title={say({ dateStyle: 'full', timeStyle: 'long' })}
      className={format === 'exact' ? undefined : 'whitespace-nowrap'}
    >
      {say(formats[format])}
      {!hydrated && format !== 'date' && format !== 'exact' && ' UTC'}
    </time>
  )
}
