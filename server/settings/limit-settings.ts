import * as z from 'zod'
import { DEFAULT_STATUTORY_PERIOD } from '@/domain/limits/due-date'
import {
  BUCKET_NAMES,
  LIMIT_ROWS,
  limitsFrom,
  SETTING_NAMES,
  SETTING_ROWS,
  type SettingRow,
} from '@/domain/limits/limits'
import { count, duration, durationUpTo, type Parsed, periodText } from './setting-fields'

const BUCKET_FIELDS = Object.fromEntries(
  BUCKET_NAMES.flatMap((name) => {
    const { places, windowMs, settings } = LIMIT_ROWS[name]
    return [
      [settings[0], count(places)],
      [settings[1], duration(windowMs)],
    ]
  }),
)
const ROW_FIELDS = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const row: SettingRow = SETTING_ROWS[name]
    // Without an attempt no code could ever be right.
    if (!name.endsWith('Ms')) return [row.setting, count(row.value, 1)]
    return [row.setting, row.upTo ? durationUpTo(row.upTo).default(row.value) : duration(row.value)]
  }),
)

export const LIMIT_FIELDS = {
  ...BUCKET_FIELDS,
  ...ROW_FIELDS,
  WITHDRAWAL_TIME_SCALE: z
    .string()
    .refine(
      (text) => Number(text) > 0 && Number(text) <= 1000,
      'must be a number above 0, such as 0.0001, and at most 1000',
    )
    .transform(Number)
    .default(1),
  STATUTORY_PERIOD: periodText.default(DEFAULT_STATUTORY_PERIOD),
}

export const limitSettings = (settings: Parsed<typeof LIMIT_FIELDS>) => ({
  withdrawalTimeScale: settings.WITHDRAWAL_TIME_SCALE,
  statutoryPeriod: settings.STATUTORY_PERIOD,
  limits: limitsFrom(settings as unknown as Record<string, number>),
})
