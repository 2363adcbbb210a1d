import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { createReceiver } from '@/contract/receiver'
import { listening } from '@/testing/listening'
import { signatureOf, webhookSignature } from '@/testing/webhook'
import { checkReceiver } from './app-check'

const SECRET = `whsec_${Buffer.from('the secret of a receiver').toString('base64')}`
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

type Reply = { status: number; body?: string } | 'none'

/** A receiver by its answer; `null` ends the connection. */
async function listen(answer: (request: IncomingMessage, body: string) => Promise<Reply> | Reply): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming).catch(() => undefined)
    if (!body) return
    const reply = await answer(incoming, body.toString())
    if (reply === 'none') return incoming.destroy()
    outgoing.writeHead(reply.status).end(reply.body)
  })
  servers.push(server)
  const port = await listening(server)
  return `http://127.0.0.1:${port}/hook`
}

/** The receiver of the typed client, which `npm run pack:client` ships. */
const given = (
  wrong: (request: IncomingMessage, body: string) => Promise<Reply | undefined> | Reply | undefined = () => undefined,
) => {
  const receive = createReceiver({ secrets: SECRET, handle: () => 'done', check: () => [] })
  return listen(async (incoming, body) => {
    const instead = await wrong(incoming, body)
    if (instead) return instead
    if (incoming.method !== 'POST') return { status: 405 }
    const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string])
    const response = await receive(new Request('http://receiver.test/hook', { method: 'POST', headers, body }))
    return { status: response.status, body: await response.text() }
  })
}

const failuresOf = async (url: string) =>
  (await checkReceiver({ url, secret: SECRET, appUrl: 'http://account.test', checks: true })).flatMap(
    ({ call, mend }) => (mend ? [call] : []),
  )

test('the receiver of the typed client passes every call of app check', async () => {
  expect(await failuresOf(await given())).toEqual([])
})

const isSignedNow = ({ headers }: IncomingMessage, body: string) =>
  String(headers['webhook-signature']).includes(signatureOf({ headers, body }, SECRET))
const seen = new Set<unknown>()
let running = 0

/** What adopters get wrong, and the call that shows it. */
const FAULTS: [string, Parameters<typeof given>[0], string][] = [
  [
    'verifies nothing',
    ({ method }) => (method === 'POST' ? { status: 200, body: '{"blockers":[]}' } : undefined),
    'no signature',
  ],
  [
    'takes a call without a signature',
    ({ headers }) => (headers['webhook-signature'] ? undefined : { status: 200 }),
    'no signature',
  ],
  [
    'compares the start of the signature',
    ({ headers }, body) => {
      const text = String(headers['webhook-signature'] ?? '')
      const right = webhookSignature(SECRET, headers['webhook-id'], headers['webhook-timestamp'], body)
      return text !== '' && right.startsWith(text.slice(0, 3)) ? { status: 200, body: '{"blockers":[]}' } : undefined
    },
    'a signature that is cut',
  ],
  [
    'signs without the time',
    (incoming, body) => (isSignedNow(incoming, body) ? { status: 200, body: '{"blockers":[]}' } : undefined),
    'signed six minutes ago',
  ],
  [
    'reads one signature only',
    ({ headers }) => (String(headers['webhook-signature']).includes(' ') ? { status: 401 } : undefined),
    'two signatures, the second right',
  ],
  ['answers a GET', ({ method }) => (method === 'GET' ? { status: 200 } : undefined), 'a GET'],
  [
    'fails at a type of tomorrow',
    (incoming, body) => (isSignedNow(incoming, body) && body.includes('of_tomorrow"') ? { status: 500 } : undefined),
    'a type that you do not know',
  ],
  [
    'fails at an unknown person',
    (incoming, body) =>
      isSignedNow(incoming, body) && body.includes('account.withdrawn') ? { status: 400 } : undefined,
    'a deletion of an unknown person',
  ],
  [
    'fails at a repeated message',
    ({ headers }) => {
      if (seen.has(headers['webhook-id'])) return { status: 409 }
      seen.add(headers['webhook-id'])
    },
    'the same message again',
  ],
  [
    'fails at two calls at once',
    async (incoming, body) => {
      if (!isSignedNow(incoming, body)) return undefined
      running++
      await new Promise((resolve) => setImmediate(resolve))
      const isAlone = running === 1
      await new Promise((resolve) => setTimeout(resolve, 20))
      running--
      return isAlone ? undefined : { status: 503 }
    },
    'the same message five times at once',
  ],
  [
    'takes small bodies only',
    (_incoming, body) => (body.length > 10_000 ? { status: 413 } : undefined),
    'a body of 40 KB',
  ],
  [
    'answers a question with nothing',
    (incoming, body) =>
      isSignedNow(incoming, body) && body.includes('account.withdrawal_check') ? { status: 200 } : undefined,
    'a question before a withdrawal',
  ],
  ['redirects', ({ method }) => (method === 'POST' ? { status: 302 } : undefined), 'a signed message'],
  ['does not answer', () => 'none', 'a signed message'],
]

test.concurrent.each(FAULTS)('app check finds a receiver that %s', async (_name, wrong, call) => {
  expect(await failuresOf(await given(wrong))).toContain(call)
})
