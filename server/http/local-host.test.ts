import { expect, test } from 'vitest'
import { isLocalHost } from './local-host'

test.each(['localhost', 'localhost:3000', 'LOCALHOST:80', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:3000'])(
  'the Host %s is accepted in local mode',
  (host) => {
    expect(isLocalHost(host)).toBe(true)
  },
)

test.each([
  undefined,
  '',
  'evil.test:3000',
  'localhost.evil.test',
  'evil.test#localhost',
  'localhost@evil.test',
  'localhost:',
  'localhost, evil.test',
  'localhost\nevil.test',
  'xlocalhost',
  '127.0.0.2',
  '127.1',
  '::1',
  '[::ffff:127.0.0.1]',
])('the Host "%s" is refused in local mode', (host) => {
  expect(isLocalHost(host)).toBe(false)
})
