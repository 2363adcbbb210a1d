import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { logged } from '@/testing/install-context'
import { listening } from '@/testing/listening'
import { createAppCaller } from './app-caller'

const NOW = new Date('2026-11-20T09:00:00.000Z')
const clock = { now: () => NOW }
const LOCAL = { isProduction: false, allowsPrivateEndpoints: true }
const PRODUCTION = { isProduction: true, allowsPrivateEndpoints: false }
const PRODUCTION_AT_HOME = { isProduction: true, allowsPrivateEndpoints: true }
const about = { appId: 'app_1', withdrawalId: 'wd_1', step: 'third_party_integrations' }
const message = { headers: { 'webhook-id': 'msg_1' }, body: '{}', about }

// A test that waits for the deadline advances the clock itself.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

async function givenServer(answer: RequestListener) {
  const server = createServer(answer)
  const port = await listening(server)
  onTestFinished(() => void server.close().closeAllConnections())
  return { server, port }
}

async function call(answer: RequestListener) {
  const { port } = await givenServer(answer)
  return createAppCaller(clock, LOCAL)({ ...message, endpoint: `http://127.0.0.1:${port}/account-events` })
}

const bodies: [string, RequestListener][] = [
  ['none', (_request, response) => response.writeHead(200).end()],
  [
    'one that is shorter than it says',
    (request, response) => {
      response.writeHead(200, { 'Content-Length': 10 }).write('abc', () => request.socket.destroy())
    },
  ],
  [
    'one that is not compressed as it says',
    (_request, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('not gzip'),
  ],
  ['one that is larger than is read', (_request, response) => response.writeHead(200).end(Buffer.alloc(1_000_000))],
  [
    'one that never ends',
    (_request, response) => {
      const write = () => {
        while (response.writable && response.write(Buffer.alloc(16_384)));
      }
      response.writeHead(200).on('drain', write)
      write()
    },
  ],
]

test.each(bodies)('the status of an answer is returned, with a body or %s', async (_what, answer) => {
  expect(await call(answer)).toEqual({ status: 200 })
})

test('at most 64 KiB of an answer are read', async () => {
  // No bytes follow, and the call's deadline does not pass.
  expect(await call((_request, response) => void response.writeHead(200).write(Buffer.alloc(65_536)))).toEqual({
    status: 200,
  })
})

test('a wanted body is returned with the answer, whole or not at all', async () => {
  const bodyOf = async (answer: RequestListener) => {
    const { port } = await givenServer(answer)
    const endpoint = `http://127.0.0.1:${port}/`
    return createAppCaller(clock, LOCAL)({ ...message, endpoint, bodyWithinMs: 3_000 })
  }
  expect(await bodyOf((_request, response) => response.end('{"a":"ü"}'))).toEqual({ status: 200, body: '{"a":"ü"}' })
  expect(await bodyOf((_request, response) => response.writeHead(204).end())).toEqual({ status: 204, body: '' })
  const partly: RequestListener = (request, response) => {
    response.writeHead(200, { 'Content-Length': 10 }).write('abc', () => request.socket.destroy())
  }
  expect(await bodyOf(partly)).toEqual({ status: 200 })
  const size = (bytes: number) => bodyOf((_request, response) => response.end('x'.repeat(bytes)))
  expect((await size(65_535)).body).toHaveLength(65_535)
  for (const bytes of [65_536, 65_537, 1_000_000]) expect(await size(bytes)).toEqual({ status: 200 })
})

test.each([
  ['120', 120_000],
  [new Date(NOW.getTime() + 90_000).toUTCString(), 90_000],
  [new Date(NOW.getTime() - 90_000).toUTCString(), 0],
  ['soon', undefined],
])("Retry-After %s is read against the service's clock", async (header, retryAfterMs) => {
  const answer = await call((_request, response) => response.writeHead(503, { 'Retry-After': header }).end())
  expect(answer).toEqual(retryAfterMs === undefined ? { status: 503 } : { status: 503, retryAfterMs })
})

test('a redirect is returned as the answer and is not followed', async () => {
  expect(await call((_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end())).toEqual({
    status: 302,
  })
})

test('a call without an answer returns the reason', async () => {
  expect(await call((request) => request.socket.destroy())).toEqual({ status: 0, problem: expect.stringMatching(/\w/) })
})

test('a call that cannot be made returns the reason', async () => {
  const callApp = createAppCaller(clock, LOCAL)
  for (const endpoint of ['nonsense', 'http://user:password@127.0.0.1/', 'http://127.0.0.1:1/']) {
    expect(await callApp({ ...message, endpoint })).toEqual({ status: 0, problem: expect.stringMatching(/^\w+$/) })
  }
})

test('the whole message is sent as one POST to the path and host of the endpoint', async () => {
  const seen: unknown[] = []
  const { port } = await givenServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { host, 'webhook-id': id, 'content-length': length } = request.headers
    seen.push([request.method, request.url, host, id, length, Buffer.concat(parts).toString()])
    response.writeHead(204).end()
  })
  const callApp = createAppCaller(clock, LOCAL, async () => [{ address: '127.0.0.1', family: 4 }])
  const endpoint = `http://shop.example:${port}/hooks?of=accounts`
  expect(await callApp({ ...message, body: '{"a":"ü"}', endpoint })).toEqual({ status: 204 })
  expect(seen).toEqual([['POST', '/hooks?of=accounts', `shop.example:${port}`, 'msg_1', '10', '{"a":"ü"}']])
})

const stalls: [string, RequestListener, object][] = [
  ['before its status', () => {}, { status: 0, problem: 'timeout' }],
  ['in its body', (_request, response) => void response.writeHead(200).write('a'), { status: 200 }],
]

test.each([
  ...stalls.map((stall) => [10, {}, ...stall] as const),
  ...stalls.map((stall) => [3, { bodyWithinMs: 3_000 }, ...stall] as const),
])('after %i s a call (%j) ends whose application stalls %s', async (seconds, wanted, _where, answer, expected) => {
  const { server, port } = await givenServer(answer)
  const received = once(server, 'request')
  let ended: unknown
  const calling = createAppCaller(clock, LOCAL)({ ...message, endpoint: `http://127.0.0.1:${port}/`, ...wanted })
  void calling.then((answered) => {
    ended = answered
  })
  const [, response] = await received
  // Further bytes do not delay the deadline.
  for (let second = 1; second < seconds; second++) {
    if (response.headersSent) response.write('a')
    await vi.advanceTimersByTimeAsync(1_000)
  }
  // The bytes have arrived when the deadline ends the call.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  await vi.advanceTimersByTimeAsync(999)
  expect(ended).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(await calling).toEqual(expected)
})

test('a call whose host name is never resolved ends after ten seconds', async () => {
  const callApp = createAppCaller(clock, LOCAL, () => new Promise(() => {}))
  const calling = callApp({ ...message, endpoint: 'http://shop.example/' })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await calling).toEqual({ status: 0, problem: 'timeout' })
})

/** Fails the test if the server gets any request. */
const untouched: RequestListener = () => {
  throw new Error('the endpoint was called')
}

test('in production an endpoint without https is never called', async () => {
  const { port } = await givenServer(untouched)
  for (const settings of [PRODUCTION, PRODUCTION_AT_HOME]) {
    const endpoint = `http://127.0.0.1:${port}/`
    const answer = await createAppCaller(clock, settings)({ ...message, endpoint })
    expect(answer).toEqual({ status: 0, problem: 'endpoint is not https' })
  }
})

const PUBLIC_ONLY = { isProduction: false, allowsPrivateEndpoints: false }

test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '169.254.169.254', '0.0.0.0', 'localhost'])(
  'an endpoint at %s is refused by its address',
  async (host) => {
    const { port } = await givenServer(untouched)
    const answer = await createAppCaller(clock, PUBLIC_ONLY)({ ...message, endpoint: `http://${host}:${port}/` })
    expect(answer).toEqual({ status: 0, problem: 'private_address' })
  },
)

test('a name is refused when one of its addresses is not public, in production with https too', async () => {
  const { port } = await givenServer(untouched)
  const addresses = [
    { address: '2606:4700::1111', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ]
  for (const [scheme, settings] of [
    ['http', PUBLIC_ONLY],
    ['https', PRODUCTION],
  ] as const) {
    const callApp = createAppCaller(clock, settings, async () => addresses)
    const answer = await callApp({ ...message, endpoint: `${scheme}://shop.example:${port}/` })
    expect(answer).toEqual({ status: 0, problem: 'private_address' })
  }
})

test('a name is looked up once for each call, so that no second look-up can return other addresses', async () => {
  const { port } = await givenServer((_request, response) => response.writeHead(204).end())
  const lookups: string[] = []
  const callApp = createAppCaller(clock, LOCAL, async (hostname) => {
    lookups.push(hostname)
    return [{ address: '127.0.0.1', family: 4 }]
  })
  const endpoint = `http://rebinding.example:${port}/`
  expect(await callApp({ ...message, endpoint })).toEqual({ status: 204 })
  expect(lookups).toEqual(['rebinding.example'])
  // A later call does not reuse a connection, because the name may then have other addresses.
  expect(await callApp({ ...message, endpoint })).toEqual({ status: 204 })
  expect(lookups).toHaveLength(2)
})

test("an https call goes to the address that was looked up, with the endpoint's name in the TLS handshake", async () => {
  const names: string[] = []
  // Without a certificate the handshake ends after the name; the call must end with it.
  const server = createTlsServer({
    SNICallback: (name, done) => {
      names.push(name)
      done(null)
    },
  })
  server.on('tlsClientError', () => {})
  const port = await listening(server)
  onTestFinished(() => void server.close())
  const callApp = createAppCaller(clock, PRODUCTION_AT_HOME, async () => [{ address: '127.0.0.1', family: 4 }])
  const endpoint = `https://shop.example:${port}/`
  expect(await callApp({ ...message, endpoint })).toEqual({ status: 0, problem: expect.stringMatching(/^E\w+$/) })
  expect(names).toEqual(['shop.example'])
})

test('a call to a name without an address returns the reason', async () => {
  const answer = await createAppCaller(clock, LOCAL, async () => [])({ ...message, endpoint: 'http://shop.example/' })
  expect(answer).toEqual({ status: 0, problem: 'ENOTFOUND' })
})

const badAnswers: [string, RequestListener, object][] = [
  ['no answer', (request) => request.socket.destroy(), { kind: 'Error', code: 'ECONNRESET' }],
  ['a bad answer', (_request, response) => response.writeHead(500).end('of Ada'), { status: 500 }],
]

test.each(badAnswers)(
  'a call with %s is a line of the log, with application and subject and no endpoint',
  async (_what, answer, facts) => {
    const lines = logged()
    await call(answer)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', event: 'connected_app_unreachable', ...about, ...facts },
    ])
    expect(lines.join()).not.toMatch(/account-events|Ada/)
  },
)

test.each([204, 404, 410])(
  'a call that is answered with %i, which counts as told, is no line of the log',
  async (status) => {
    const lines = logged()
    await call((_request, response) => response.writeHead(status).end())
    expect(lines).toEqual([])
  },
)
