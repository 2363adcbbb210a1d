import { expect, test } from 'vitest'
import { validityInWords } from './duration-words'

const minute = 60_000
const hour = 60 * minute

test.each([
  [12 * hour - 1, '11.9 hours'],
  [66 * minute - 1, '1 hour'],
  [hour, '1 hour'],
  [hour - 1, '59 minutes'],
  [2 * minute - 1, '1 minute'],
  [minute, '1 minute'],
  [minute - 1, null],
  [0, null],
])('%d milliseconds read as %s', (ms, words) => {
  expect(validityInWords('en', ms)).toBe(words)
})

test('durations keep tenths of an hour', () => {
  for (let tenths = 10; tenths <= 480; tenths++) {
    const hours = tenths / 10
    expect(validityInWords('en', tenths * 6 * minute)).toBe(hours === 1 ? '1 hour' : `${hours} hours`)
  }
})
