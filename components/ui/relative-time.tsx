'use client'

import { useLocale } from 'use-intl/react'
import { writtenUnits } from '@/contract/languages'
import { EXACT, useClock } from './local-time'
import { useServerTime } from './server-clock'

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

interface RelativeTimeProps {
  dateTime: string
  /** Says “1 minute ago” in place of “now”. */
  isOver?: boolean
}

/** Such as “now”, “5 minutes ago” or “in 3 days”, and the exact time in its title. */
export function RelativeTime({ dateTime, isOver = false }: RelativeTimeProps) {
  const language = useLocale()
  const passed = (Date.parse(dateTime) - useServerTime()) / 1000
  const seconds = isOver ? Math.min(passed, -60) : passed
  const say = useClock(dateTime)
  return (
    <time dateTime={dateTime} title={say(EXACT)}>
      {distance(seconds, language)}
    </time>
  )
}

function distance(seconds: number, language: string): string {
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? []
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  // Such as “now”.
  return writtenUnits(
    language,
    unit && size ? format.format(Math.round(seconds / size), unit) : format.format(0, 'second'),
  )
}
