import * as z from 'zod'
import type { CalendarPeriod } from '@/domain/limits/due-date'
import { day } from '@/domain/limits/durations'

/** What a set of fields gives once it is parsed. */
export type Parsed<Fields extends z.ZodRawShape> = z.output<z.ZodObject<Fields>>

/** The variables as they were given; an empty one counts as not set. */
export type Variables = Record<string, string | undefined>

const DURATION = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** Milliseconds of an ISO 8601 duration of weeks, days, hours, minutes and seconds; null for anything else. */
export function parseDuration(text: string): number | null {
  const match = DURATION.exec(text)
  if (!match || !/\d/.test(text) || text.endsWith('T')) return null
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0))
  return Math.round(((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
}

const PERIOD = /^P(?:(\d{1,2})Y)?(?:(\d{1,3})M)?(?:(\d{1,3})W)?(?:(\d{1,4})D)?$/

/** Months and days of an ISO 8601 period of years, months, weeks and days; null for anything else. */
export function parsePeriod(text: string): CalendarPeriod | null {
  const match = PERIOD.exec(text)
  if (!match) return null
  const [years = 0, months = 0, weeks = 0, days = 0] = match.slice(1).map((part) => Number(part ?? 0))
  return { months: years * 12 + months, days: weeks * 7 + days }
}

const MAX_DURATION_MS = 3_650 * 24 * 60 * 60 * 1000
export const durationText = z.string().transform((text, ctx) => {
  const ms = parseDuration(text)
  if (ms !== null && ms > 0 && ms <= MAX_DURATION_MS) return ms
  ctx.addIssue('must be an ISO 8601 duration such as PT15M, PT12H or P1D, of ten years at most')
  return z.NEVER
})
export const periodText = z.string().transform((text, ctx) => {
  const period = parsePeriod(text)
  if (period && period.months + period.days > 0) return period
  ctx.addIssue('must be an ISO 8601 period of the calendar such as P1M or P45D')
  return z.NEVER
})
export const durationUpTo = (maxMs: number, wanted = `P7D, of ${maxMs / day} days at most`) =>
  z.string().transform((text, ctx) => {
    const ms = parseDuration(text)
    if (ms !== null && ms <= maxMs) return ms
    ctx.addIssue(`must be PT0S or an ISO 8601 duration such as ${wanted}`)
    return z.NEVER
  })
export const duration = (fallbackMs: number) => durationText.default(fallbackMs)
export function count(fallback: number, least: 0 | 1 = 0) {
  const must = `must be a whole number, ${least} or more`
  return z
    .string()
    .regex(/^\d{1,9}$/, must)
    .transform(Number)
    .refine((number) => number >= least, must)
    .default(fallback)
}
export const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((number) => number >= 1 && number <= 65_535, 'must be a port number from 1 to 65535')
export const flag = z.enum(['0', '1'], 'must be 0 or 1').transform((text) => text === '1')
export const url = (protocols: string[], example: string) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `must be a URL such as ${example}`,
    abort: true,
  })
export const list = z.string().transform((text) => text.split(',').map((item) => item.trim()))
export const secrets = list.refine(
  (items) => items.every((secret) => secret.length >= 16),
  'must be secrets of 16 characters or more, separated by commas',
)
