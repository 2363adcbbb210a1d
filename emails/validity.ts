const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const TENTH_OF_AN_HOUR_MS = HOUR_MS / 10

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`

/** Such as “12 hours”, “1.5 hours” or “9 minutes”. Rounded down, so that the message never promises too much. */
export function validityInWords(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute'
  if (ms < HOUR_MS) return counted(Math.floor(ms / MINUTE_MS), 'minute')
  return counted(Math.floor(ms / TENTH_OF_AN_HOUR_MS) / 10, 'hour')
}
