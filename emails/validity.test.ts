import { expect, test } from 'vitest'
import { validityInWords } from './validity'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

test.each([
  [24 * hour, '24 hours'],
  [12 * hour, '12 hours'],
  [12 * hour - 1, '11.9 hours'],
  [276 * minute, '4.6 hours'],
  [90 * minute, '1.5 hours'],
  [66 * minute - 1, '1 hour'],
  [hour, '1 hour'],
  [hour - 1, '59 minutes'],
  [6 * minute, '6 minutes'],
  [2 * minute - 1, '1 minute'],
  [minute, '1 minute'],
  [minute - 1, 'less than a minute'],
  [6 * second, 'less than a minute'],
  [0, 'less than a minute'],
])('%d milliseconds read as %s', (ms, words) => {
  expect(validityInWords(ms)).toBe(words)
})

test('no tenth of an hour is lost', () => {
  for (let tenths = 10; tenths <= 480; tenths++) {
    const hours = tenths / 10
    expect(validityInWords(tenths * 6 * minute)).toBe(hours === 1 ? '1 hour' : `${hours} hours`)
  }
})
