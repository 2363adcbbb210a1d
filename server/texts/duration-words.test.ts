import { expect, test } from 'vitest'
import { daysInWords, validityInWords } from './duration-words'

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
  [minute - 1, null],
  [6 * second, null],
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

test.each([
  ['de', '1,5 Stunden', '30 Tage'],
  ['fr', '1,5\u00a0heure', '30\u00a0jours'],
  ['es', '1,5 horas', '30 días'],
  ['pt-BR', '1,5 hora', '30 dias'],
  ['ja', '1.5時間', '30日'],
] as const)('in %s as its speakers say it', (language, hours, days) => {
  expect([validityInWords(language, 90 * minute), daysInWords(language, 30)]).toEqual([hours, days])
})
