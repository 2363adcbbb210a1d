import { type Language, writtenUnits } from '@/contract/languages'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const TENTH_OF_AN_HOUR_MS = HOUR_MS / 10

type Unit = 'minute' | 'hour' | 'day'
const counted = (language: Language, unit: Unit, count: number) =>
  writtenUnits(language, new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count))

/** Such as “12 hours”, “1.5 hours” or “9 minutes”. Rounded down, so that a message never promises too much; null below a minute. */
export function validityInWords(language: Language, ms: number): string | null {
  if (ms < MINUTE_MS) return null
  if (ms < HOUR_MS) return counted(language, 'minute', Math.floor(ms / MINUTE_MS))
  return counted(language, 'hour', Math.floor(ms / TENTH_OF_AN_HOUR_MS) / 10)
}

export const daysInWords = (language: Language, days: number): string => counted(language, 'day', days)
