import { expect, test } from 'vitest'
import { LIMITS } from '@/domain/limits/limits'
import { pauseAfter, until, withStatus } from './until'

test('a test that waits on the API stays below the read limit, however long it waits', () => {
  const { places, windowMs } = LIMITS.read
  const pauses = Array.from({ length: places }, (_, looks) => pauseAfter(looks + 1))
  expect(pauses.reduce((sum, ms) => sum + ms)).toBeGreaterThan(windowMs)
})

test('a test that has waited in vain tells the last answer', async () => {
  const answer = { status: 429, body: { error: { code: 'RATE_001' } } }
  await expect(until('it is over', () => withStatus(200, answer), 0)).rejects.toThrow(
    'it is over; at last: {"status":429',
  )
  await expect(until('it is over', () => withStatus(200, answer), 0)).rejects.toThrow('RATE_001')
  await expect(until('it is over', () => false, 0)).rejects.toThrow('at last: false')
  expect(await until('it is over', () => withStatus(429, answer), 0)).toBe(answer)
})
