import { expect, test } from 'vitest'
import { formatDuration } from './duration'

test.each([
  [0, '0 seconds'],
  [9.2, '10 seconds'],
  [60, '1 minute'],
  [61, '1 minute'],
  [90, '2 minutes'],
  [300.25, '5 minutes'],
  [43_200.5, '12 hours'],
  [43_140, '11 hours 59 minutes'],
  [604_800, '7 days'],
])('%d seconds are %s', (seconds, words) => {
  expect(formatDuration(seconds, 'en')).toBe(words)
})
