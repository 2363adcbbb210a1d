import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { hardenPage } from './page-headers'

function hstsOf(appUrl: string, hstsIncludeSubDomains: boolean) {
  const incoming = new IncomingMessage(new Socket())
  const outgoing = new ServerResponse(incoming)
  hardenPage(incoming, outgoing, { appUrl, hstsIncludeSubDomains })
  return outgoing.getHeader('Strict-Transport-Security')
}

test('Strict-Transport-Security includes subdomains as the setting says, and never preload', () => {
  expect(hstsOf('http://localhost:3000', true)).toBeUndefined()
  expect(hstsOf('https://accounts.test', true)).toBe('max-age=63072000; includeSubDomains')
  expect(hstsOf('https://accounts.test', false)).toBe('max-age=63072000')
})
