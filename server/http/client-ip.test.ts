import type { IncomingMessage } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

/** Settings are parsed once in a process, so each count of hops loads the module again. */
async function clientIpWith(hops: string | undefined) {
  vi.resetModules()
  vi.stubEnv('TRUSTED_PROXY_HOPS', hops)
  return import('./client-ip')
}

const incoming = (remoteAddress: string | undefined, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage

const FORGED = {
  'x-forwarded-for': '203.0.113.9',
  'x-real-ip': '203.0.113.9',
  forwarded: 'for=203.0.113.9',
  'x-client-ip': '203.0.113.9',
  'x-account-client-ip': '203.0.113.9',
  'true-client-ip': '203.0.113.9',
}

test('B37 without trusted hops the peer is the client, whatever the headers say', async () => {
  const { clientIp } = await clientIpWith(undefined)
  expect(clientIp(incoming('192.0.2.1', FORGED))).toBe('192.0.2.1')
})

test('an IPv4 peer on a dual-stack socket is written as IPv4, an IPv6 peer as it is', async () => {
  const { clientIp } = await clientIpWith('0')
  expect(clientIp(incoming('::ffff:192.0.2.1'))).toBe('192.0.2.1')
  expect(clientIp(incoming('2001:db8::1'))).toBe('2001:db8::1')
  expect(clientIp(incoming('::ffff:c000:201'))).toBe('::ffff:c000:201')
})

test('a socket without a peer gives an empty address, not a forged one', async () => {
  const { clientIp } = await clientIpWith('0')
  expect(clientIp(incoming(undefined, FORGED))).toBe('')
})

test.each([
  ['1', '198.51.100.7', '198.51.100.7'],
  ['1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
  ['1', '203.0.113.9,203.0.113.10,::ffff:198.51.100.7', '198.51.100.7'],
  ['2', '203.0.113.9, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
  ['2', ' , 198.51.100.7 ,, 10.0.0.2', '198.51.100.7'],
  ['3', '2001:db8::5, 10.0.0.1, 10.0.0.2', '2001:db8::5'],
  ['1', '198.51.100.7:50123', '198.51.100.7'],
  ['1', '[2001:db8::5]:50123', '2001:db8::5'],
  ['1', '[::ffff:198.51.100.7]:50123', '198.51.100.7'],
  ['1', '2001:db8::5:8080', '2001:db8::5:8080'],
  ['2', '203.0.113.9:1, 198.51.100.7:2, 10.0.0.2:3', '198.51.100.7'],
])('with %s trusted hops and "%s", the client is %s', async (hops, forwarded, expected) => {
  const { clientIp } = await clientIpWith(hops)
  expect(clientIp(incoming('10.0.0.3', { 'x-forwarded-for': forwarded }))).toBe(expected)
})

test('with fewer entries than trusted hops, the peer is the client', async () => {
  const { clientIp } = await clientIpWith('2')
  expect(clientIp(incoming('10.0.0.3', { 'x-forwarded-for': '203.0.113.9' }))).toBe('10.0.0.3')
  expect(clientIp(incoming('10.0.0.3', { 'x-forwarded-for': '' }))).toBe('10.0.0.3')
  expect(clientIp(incoming('10.0.0.3'))).toBe('10.0.0.3')
})

test.each([
  'unknown',
  '198.51.100.7:',
  '198.51.100.7:port',
  '198.51.100.256',
  '198.51.100.7 198.51.100.8',
  '[198.51.100.7]:80',
  '[2001:db8::5]',
  '[2001:db8::5]:80:90',
  'for=198.51.100.7',
  '127.1',
])('an entry that is no address, such as %s, falls back to the peer', async (entry) => {
  const { clientIp } = await clientIpWith('1')
  expect(clientIp(incoming('10.0.0.3', { 'x-forwarded-for': entry }))).toBe('10.0.0.3')
  expect(clientIp(incoming('10.0.0.3', { 'x-forwarded-for': `203.0.113.9, ${entry}` }))).toBe('10.0.0.3')
})

test('only the first forwarding header counts with trusted hops', async () => {
  const { clientIp } = await clientIpWith('1')
  const { 'x-forwarded-for': _, ...others } = FORGED
  expect(clientIp(incoming('10.0.0.3', others))).toBe('10.0.0.3')
})

test("the server entry's header replaces one that the client sent", async () => {
  const { clientIpOf, markClientIp } = await clientIpWith('0')
  const request = incoming('192.0.2.1', { ...FORGED })
  // The header's name is secret; a client that knew it could send this.
  markClientIp(request, '203.0.113.9')
  markClientIp(request, '192.0.2.1')
  expect(clientIpOf(new Headers(request.headers as Record<string, string>))).toBe('192.0.2.1')
})

test('B37 without the header the client is unknown', async () => {
  const { clientIpOf } = await clientIpWith('0')
  expect(clientIpOf(new Headers({ 'X-Forwarded-For': '203.0.113.9' }))).toBe('unknown')
})
