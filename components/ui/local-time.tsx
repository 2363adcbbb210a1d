'use client'

import { useLocale } from 'use-intl/react'
import { dateTag } from '@/contract/languages'
import { useHydrated } from './use-hydrated'

const formats = {
  date: { dateStyle: 'long' },
  'date-time': { dateStyle: 'long', timeStyle: 'short' },
  /** For a narrow place. */
  short: { dateStyle: 'medium', timeStyle: 'short' },
  time: { timeStyle: 'short' },
  /** With the time zone, for what is printed. It is long, so that it may take two lines. */
  exact: { dateStyle: 'long', timeStyle: 'long' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

interface LocalTimeProps {
  dateTime: string
  format?: keyof typeof formats
  /** For a short one that stands in a sentence and in no column. */
  mayBreak?: boolean
}

/** For a title: the whole date, and the time with its zone. */
export const EXACT = { dateStyle: 'full', timeStyle: 'long' } as const satisfies Intl.DateTimeFormatOptions

/** An instant in any format, in the reader's language and time zone; in UTC until the browser has the page. */
export function useClock(dateTime: string) {
  const language = useLocale()
  const timeZone = useHydrated() ? undefined : 'UTC'
  return (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(dateTag(language), { ...options, timeZone }).format(new Date(dateTime))
}

/** An instant in the reader's language and time zone, and the exact time in its title. The server does not know the zone: it shows UTC. */
export function LocalTime({ dateTime, format = 'date-time', mayBreak = format !== 'short' }: LocalTimeProps) {
  const hydrated = useHydrated()
  const say = useClock(dateTime)
  return (
    // A block keeps together in a column; in a sentence a full stop behind it would begin a line.
    <time dateTime={dateTime} title={say(EXACT)} className={mayBreak ? undefined : 'inline-block text-wrap'}>
      {say(formats[format])}
      {!hydrated && format !== 'date' && format !== 'exact' && ' UTC'}
    </time>
  )
}
