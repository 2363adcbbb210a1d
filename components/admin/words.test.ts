import { expect, test } from 'vitest'
import type { ShownTask } from '@/contract/tasks'
import { noAnswer, resultOf, willBeCalled } from './words'

test.each([
  ['ECONNREFUSED', 'Connection refused: nothing listens at 127.0.0.1:9 (ECONNREFUSED)'],
  ['ENOTFOUND', 'Unknown host: no address was found for 127.0.0.1:9 (ENOTFOUND)'],
  ['timeout', 'No answer in time from 127.0.0.1:9 (timeout)'],
  ['CERT_HAS_EXPIRED', 'Untrusted certificate of 127.0.0.1:9 (CERT_HAS_EXPIRED)'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'Untrusted certificate of 127.0.0.1:9 (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  ['private_address', 'It did not answer: private_address'],
])('a call that failed with %s is told in words', (code, sentence) => {
  expect(noAnswer(code, '127.0.0.1:9')).toBe(sentence)
})

test.each([
  ['ECONNREFUSED', 'connection refused (ECONNREFUSED)'],
  ['reported_failed', 'the app reported that it failed'],
  ['HTTP 503', 'HTTP 503'],
])('the last result %s is told in words', (lastError, words) => {
  expect(resultOf(lastError)).toBe(words)
})

test('only a task that is called by itself, and was not yet, cannot be of an application that nobody reaches', () => {
  const task = { state: 'pending', attempts: 0, due_at: '2026-11-20T10:00:00.000Z', polls: false } as ShownTask
  expect(willBeCalled(task)).toBe(true)
  const others: Partial<ShownTask>[] = [{ attempts: 1 }, { state: 'accepted' }, { due_at: null }, { polls: true }]
  for (const other of others) expect([other, willBeCalled({ ...task, ...other })]).toEqual([other, false])
})
