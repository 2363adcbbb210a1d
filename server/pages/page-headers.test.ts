import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { hardenPage } from './page-headers'

function hardened(url: string, appUrl: string, hstsCoversSubdomains: boolean) {
  const incoming = new IncomingMessage(new Socket())
  incoming.url = url
  const outgoing = new ServerResponse(incoming)
  hardenPage(incoming, outgoing, { appUrl, hstsCoversSubdomains })
  return outgoing
}

const hstsOf = (appUrl: string, hstsCoversSubdomains: boolean) =>
  hardened('/', appUrl, hstsCoversSubdomains).getHeader('Strict-Transport-Security')

test('Strict-Transport-Security includes subdomains as the setting says, and never preload', () => {
  expect(hstsOf('http://localhost:3000', true)).toBeUndefined()
  expect(hstsOf('https://accounts.test', true)).toBe('max-age=63072000; includeSubDomains')
  expect(hstsOf('https://accounts.test', false)).toBe('max-age=63072000')
})

test('other sites may show the logo, which stands in mails, and see whether the service is there, and nothing else', () => {
  const policyOf = (url: string) =>
    hardened(url, 'https://accounts.test', true).getHeader('Cross-Origin-Resource-Policy')
  for (const url of ['/brand/logo', '/api/health/ready']) expect(policyOf(url)).toBe('cross-origin')
  for (const url of ['/', '/brand/mark', '/brand/logo/x', '/settings/email', '/api/auth/session'])
    expect(policyOf(url)).toBe('same-origin')
})
