import { expect, test } from 'vitest'
import { addPeriod } from './due-date'

test.each([
  ['2026-12-31T23:59:59.999Z', 1, 0, '2027-01-31T23:59:59.999Z'],
  // A month that is too short ends with its last day.
  ['2027-01-31T12:00:00.000Z', 1, 0, '2027-02-28T12:00:00.000Z'],
  ['2028-01-31T12:00:00.000Z', 1, 0, '2028-02-29T12:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', 1, 0, '2028-03-29T12:00:00.000Z'],
  // The clocks of countries change in between.
  ['2026-10-10T08:00:00.000Z', 1, 0, '2026-11-10T08:00:00.000Z'],
  ['2026-11-20T09:00:00.000Z', 0, 45, '2027-01-04T09:00:00.000Z'],
  // The months come first.
  ['2027-01-31T09:00:00.000Z', 1, 2, '2027-03-02T09:00:00.000Z'],
  ['2026-11-20T09:00:00.000Z', 14, 0, '2028-01-20T09:00:00.000Z'],
])('a withdrawal that starts at %s with a period of %i months and %i days is due at %s', (start, months, days, end) => {
  expect(addPeriod(new Date(start), { months, days }).toISOString()).toBe(end)
})
