import { expect, test } from 'vitest'
import { noAnswer } from './words'

test.each([
  ['ECONNREFUSED', 'Connection refused: nothing listens at 127.0.0.1:9 (ECONNREFUSED)'],
  ['ENOTFOUND', 'Unknown host: no address was found for 127.0.0.1:9 (ENOTFOUND)'],
  ['timeout', 'No answer in time from 127.0.0.1:9 (timeout)'],
  ['CERT_HAS_EXPIRED', 'The certificate of 127.0.0.1:9 is not trusted (CERT_HAS_EXPIRED)'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate of 127.0.0.1:9 is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  ['private_address', 'It did not answer: private_address'],
])('a call that failed with %s is told in words', (code, sentence) => {
  expect(noAnswer(code, '127.0.0.1:9')).toBe(sentence)
})
