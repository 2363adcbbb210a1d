import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAppCaller } from './connected-apps'

const NOW = new Date('2026-11-20T09:00:00.000Z')

async function call(answer: RequestListener) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/account-events`
  return createAppCaller({ now: () => NOW })({ endpoint, headers: {}, body: '{}' })
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
]

test.each(bodies)('an answer counts by its status, with a body or %s', async (_what, answer) => {
  expect(await call(answer)).toEqual({ status: 200 })
})

test.each([
  ['120', 120_000],
  [new Date(NOW.getTime() + 90_000).toUTCString(), 90_000],
  [new Date(NOW.getTime() - 90_000).toUTCString(), 0],
  ['soon', undefined],
])("Retry-After %s is read by the service's clock", async (header, retryAfterMs) => {
  const answer = await call((_request, response) => response.writeHead(503, { 'Retry-After': header }).end())
  expect(answer).toEqual(retryAfterMs === undefined ? { status: 503 } : { status: 503, retryAfterMs })
})

test('a redirect is an answer, and is not followed', async () => {
  expect(await call((_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end())).toEqual({
    status: 302,
  })
})

test('no answer at all has a reason', async () => {
  expect(await call((request) => request.socket.destroy())).toEqual({ status: 0, problem: expect.stringMatching(/\w/) })
})
