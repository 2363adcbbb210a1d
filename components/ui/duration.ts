import { writtenUnits } from '@/contract/languages'

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/**
 * Such as “11 hours 59 minutes”, “5 minutes” or “9 seconds”: the two largest units, rounded up, so that nobody comes back too early. A second
 * more than whole minutes is not counted, because a browser knows the time of the server only so exactly.
 */
export function formatDuration(seconds: number, language: string): string {
  const counted = (count: number, unit: (typeof units)[number][0]) =>
    new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
  const whole = seconds > 60 ? Math.ceil((seconds - 1) / 60) * 60 : Math.max(0, Math.ceil(seconds))
  const largest = units.findIndex(([, size]) => whole >= size)
  const [unit, size] = units[largest] ?? ['second', 1]
  const next = units[largest + 1]
  if (!next) return writtenUnits(language, counted(whole, unit))
  const [smallerUnit, smallerSize] = next
  const rounded = Math.ceil(whole / smallerSize) * smallerSize
  const rest = Math.floor((rounded % size) / smallerSize)
  const largestInWords = counted(Math.floor(rounded / size), unit)
  return writtenUnits(language, rest ? `${largestInWords} ${counted(rest, smallerUnit)}` : largestInWords)
}
