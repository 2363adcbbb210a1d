import { expect, test } from 'vitest'
import { resultOf, resultOfPing } from './words'

test.each([
  ['ECONNREFUSED', 'Connection refused: nothing listens at 127.0.0.1:9 (ECONNREFUSED)'],
  ['ENOTFOUND', 'Unknown host: no address was found for 127.0.0.1:9 (ENOTFOUND)'],
  ['timeout', 'No answer in time from 127.0.0.1:9 (timeout)'],
  ['CERT_HAS_EXPIRED', 'Untrusted certificate of 127.0.0.1:9 (CERT_HAS_EXPIRED)'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'Untrusted certificate of 127.0.0.1:9 (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  ['private_address', 'It did not answer: private_address'],
])('a call that failed with %s is told in words', (code, sentence) => {
  const answer = { status: 0, took_ms: 7, problem: code }
  expect(resultOfPing(answer, '127.0.0.1:9')).toBe(`${sentence}, after 7 ms.`)
})

test.each([
  ['ECONNREFUSED', 'connection refused (ECONNREFUSED)'],
  ['reported_failed', 'the app reported that it failed'],
  ['HTTP 503', 'HTTP 503'],
])('the last result %s is told in words', (lastError, words) => {
  expect(resultOf(lastError)).toBe(words)
})
