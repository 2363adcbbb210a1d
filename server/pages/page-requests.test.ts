import { expect, test } from 'vitest'
import { pageOfEncodedFragment } from './page-requests'

const leadsTo = (url: string, method = 'GET') => pageOfEncodedFragment({ method, url })

test('a mailed link whose # came as %23 opens its page', () => {
  expect(leadsTo('/verify-email%23request=ecr_x&code=042137')).toBe('/verify-email#request=ecr_x&code=042137')
  expect(leadsTo('/delete-account/confirm%23token=wrt_x.y-z')).toBe('/delete-account/confirm#token=wrt_x.y-z')
})

test.each([
  '/verify-email',
  '/verify-email%23',
  '//evil.test%23x',
  '/\\evil.test%23x',
  '/api/v1/users%23x',
  '/a?b=%23c',
  '%23x',
])('%s stays as it is', (url) => {
  expect(leadsTo(url)).toBeNull()
  expect(leadsTo('/verify-email%23x=y', 'POST')).toBeNull()
})
