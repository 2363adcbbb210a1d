import { afterEach, expect, test, vi } from 'vitest'
import { unlessAway } from './away'

afterEach(() => vi.useRealTimers())

const awayError = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

test('a page goes on without what a frozen database does not answer, long before its time limits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const frozen = new Promise<string>(() => {})
  const read = unlessAway(frozen, 'signed out')
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await read).toBe('signed out')
})

test('a page shows what the database answers, goes on without one that is away, and tells any other error', async () => {
  expect(await unlessAway(Promise.resolve('Ada'), null)).toBe('Ada')
  expect(await unlessAway(Promise.reject(awayError()), null)).toBeNull()
  await expect(unlessAway(Promise.reject(new Error('a fault')), null)).rejects.toThrow('a fault')
})
