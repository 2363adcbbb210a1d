/** A period of the calendar; none of its parts is negative. */
export interface CalendarPeriod {
  months: number
  days: number
}

/** Where STATUTORY_PERIOD does not say otherwise. */
export const DEFAULT_STATUTORY_PERIOD: CalendarPeriod = { months: 1, days: 0 }

/** The same day and time so many months and days later; the last day of a month that is too short. In UTC. */
export function addPeriod(start: Date, { months, days }: CalendarPeriod): Date {
  const day = start.getUTCDate()
  const end = new Date(start)
  end.setUTCDate(1)
  end.setUTCMonth(end.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()
  end.setUTCDate(Math.min(day, lastDay) + days)
  return end
}
