import { expect, test } from 'vitest'
import { addPeriod } from './due-date'

const month = { months: 1, days: 0 }
const dueBy = (start: string, period = month) => addPeriod(new Date(start), period).toISOString()

test.each([
  ['2026-11-20T09:00:00.000Z', '2026-12-20T09:00:00.000Z'],
  ['2026-12-31T23:59:59.999Z', '2027-01-31T23:59:59.999Z'],
  ['2027-01-28T00:00:00.000Z', '2027-02-28T00:00:00.000Z'],
  ['2027-01-31T12:00:00.000Z', '2027-02-28T12:00:00.000Z'],
  ['2028-01-31T12:00:00.000Z', '2028-02-29T12:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', '2028-03-29T12:00:00.000Z'],
  ['2026-03-31T00:30:00.000Z', '2026-04-30T00:30:00.000Z'],
])('a withdrawal that starts at %s is due one calendar month later, at %s', (start, end) => {
  expect(dueBy(start)).toBe(end)
})

test("a change of a country's clocks does not move the due date", () => {
  expect(dueBy('2026-10-10T08:00:00.000Z')).toBe('2026-11-10T08:00:00.000Z')
})

test('other periods add their months first, and then their days', () => {
  expect(dueBy('2026-11-20T09:00:00.000Z', { months: 0, days: 45 })).toBe('2027-01-04T09:00:00.000Z')
  expect(dueBy('2027-01-31T09:00:00.000Z', { months: 1, days: 2 })).toBe('2027-03-02T09:00:00.000Z')
  expect(dueBy('2026-11-20T09:00:00.000Z', { months: 14, days: 0 })).toBe('2028-01-20T09:00:00.000Z')
})
