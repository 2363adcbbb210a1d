import { createServer, type IncomingMessage, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { createReceiver } from '@/contract/receiver'
import { registerApp } from '@/domain/applications/manage'
import { testContext } from '@/testing/domain'
import { listening } from '@/testing/listening'
import { signatureOf, webhookSignature } from '@/testing/webhook'
import { type CallResult, checkReceiver } from './app-check'
import { execute } from './execute'
import { showAnswer } from './show'

const SECRET = `whsec_${Buffer.from('the secret of a receiver').toString('base64')}`
const PERSON = { subject: 'customer 42', account: 'usr_of_a_test_person' }
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
  const people = new Set([PERSON.account])
  const receive = createReceiver({
    secrets: SECRET,
    check: () => [],
    isPresent: (account) => people.has(account),
    handle: ({ type, data }) => {
      if (type === 'account.withdrawn') people.delete(data.account)
      return 'done'
    },
  })
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
  (await checkReceiver({ url, secret: SECRET, appUrl: 'http://account.test', checks: true, person: PERSON })).flatMap(
    ({ call, result }) => (result === 'FAIL' ? [call] : []),
  )

test('a registered application is called at its address, signed by its secret, and asked as it wants to be', async () => {
  const ctx = await testContext()
  await registerApp(ctx, { name: 'Checked', endpoint: await given(), secret: SECRET, checks: true })
  const answer = await execute(ctx, ['app', 'check', 'Checked'], null)
  const calls = expect.arrayContaining([expect.objectContaining({ call: 'a question before a withdrawal' })])
  expect(answer).toMatchObject({ failed: 0, calls })
  expect(answer).not.toHaveProperty('not_tried')
})

test('a registered application that is asked about absence learns that this was not tried, and what to mend is said once', async () => {
  const ctx = await testContext()
  const endpoint = await given(() => ({ status: 200 }))
  await registerApp(ctx, { name: 'Confirms', endpoint, secret: SECRET, confirms: true })
  const answer = (await execute(ctx, ['app', 'check', 'Confirms'], null)) as { not_tried: string; calls: CallResult[] }
  expect(answer.not_tried).toMatch(/^whether a person is absent: /)
  const mends = answer.calls.flatMap(({ mend }) => mend ?? [])
  expect(mends).toEqual([...new Set(mends)])
  expect(mends.length).toBeLessThan(answer.calls.filter(({ result }) => result === 'FAIL').length)
})

test('where nobody answers, the check says so and tries nothing else', async () => {
  const calls = await checkReceiver({ url: 'http://127.0.0.1:1/', secret: SECRET, appUrl: '', checks: true })
  expect(calls).toEqual([
    expect.objectContaining({ answer: 'no answer', mend: expect.stringContaining('Start the receiver') }),
  ])
})

test('B108 the receiver of the typed client passes every call of app check', async () => {
  expect(await failuresOf(await given())).toEqual([])
})

const isSignedNow = ({ headers }: IncomingMessage, body: string) =>
  String(headers['webhook-signature']).includes(signatureOf({ headers, body }, SECRET))
/** The answer to an absence check by `say`. */
function answerOf(incoming: IncomingMessage, body: string, say: (person: typeof PERSON) => object): Reply | undefined {
  if (!body.includes('account.absence_check') || !isSignedNow(incoming, body)) return undefined
  return { status: 200, body: JSON.stringify(say(JSON.parse(body).data)) }
}
let erased = false
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
  [
    'says absent of everybody',
    (incoming, body) => answerOf(incoming, body, ({ account }) => ({ present: false, account })),
    'whether a person is absent who is there',
  ],
  [
    'says present of everybody',
    (incoming, body) => answerOf(incoming, body, ({ account }) => ({ present: true, account })),
    'whether an account is absent that nobody has',
  ],
  [
    'looks by the subject',
    (incoming, body) =>
      answerOf(incoming, body, ({ subject, account }) => ({ present: subject === PERSON.subject, account })),
    'whether the former account of a person is absent who came back',
  ],
  [
    'answers about another account',
    (incoming, body) => answerOf(incoming, body, () => ({ present: false, account: 'usr_other' })),
    'whether an account is absent that nobody has',
  ],
  [
    'erases a person who came back',
    (incoming, body) => {
      if (body.includes('account.withdrawn') && body.includes(PERSON.subject) && isSignedNow(incoming, body))
        erased = true
      return answerOf(incoming, body, ({ account }) => ({ present: account === PERSON.account && !erased, account }))
    },
    'the deletion of the former account of a person who came back',
  ],
  ['redirects', ({ method }) => (method === 'POST' ? { status: 302 } : undefined), 'a signed message'],
  ['does not answer', () => 'none', 'a signed message'],
]

test.concurrent.each(FAULTS)('B108 app check finds a receiver that %s', async (_name, wrong, call) => {
  expect(await failuresOf(await given(wrong))).toContain(call)
})

test('a terminal shows ok or FAIL first in the row of each call, and beside it what is accepted', async () => {
  const url = await given(({ method }) => ({ status: method === 'GET' ? 200 : 403, body: '' }))
  const calls = await checkReceiver({ url, secret: SECRET, appUrl: 'http://account.test', checks: false })
  const lines = showAnswer({ calls }, { now: new Date(), width: 100, wide: false }).split('\n')
  expect(lines).toContainEqual(expect.stringMatching(/^ok +no signature +4xx or 5xx, best 401 +403$/))
  expect(lines).toContainEqual(expect.stringMatching(/^FAIL +a GET +4xx or 5xx, best 405 +200$/))
  expect(lines).toContainEqual(expect.stringMatching(/^FAIL +a deletion of an unknown person +2xx, 404 or 410 +403$/))
})
