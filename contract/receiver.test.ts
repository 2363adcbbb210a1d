import { expect, test } from 'vitest'
import { webhookSignature } from '@/testing/webhook'
import { type AccountMessage, createReceiver, type DeletionTask, type Outcome, reportTask } from './receiver'

const [OLD, NEW] = ['whsec_b2xkIHNlY3JldA==', 'whsec_bmV3IHNlY3JldA==']
const NOW = 1_795_000_000

const task: DeletionTask = {
  id: 'msg_1',
  due_by: '2026-11-21T09:00:00.000Z',
  report_to: 'https://accounts.test/api/v1/tasks/msg_1',
  report_token: 'dtk_x',
}
const message = (data: object = {}) =>
  JSON.stringify({ type: 'account.withdrawn', timestamp: 't', data: { subject: 'customer 42', task, ...data } })

interface Sent {
  id?: string
  at?: number
  body?: string
  by?: string[]
  /** Sent instead of the signed body. */
  sent?: string
}

function signed({ id = 'msg_1', at = NOW, body = message(), by = [NEW], sent = body }: Sent = {}): Request {
  const signatures = by.map((secret) => webhookSignature(secret, id, at, body))
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signatures.join(' ') }
  return new Request('https://shop.test/hook', { method: 'POST', headers, body: sent })
}

function givenReceiver(outcome: () => Promise<Outcome> | Outcome = () => 'done', secrets: string | string[] = NEW) {
  const handled: AccountMessage[] = []
  const receive = createReceiver({
    secrets,
    now: () => NOW * 1000,
    handle: (message) => {
      handled.push(message)
      return outcome()
    },
  })
  return { handled, statusOf: async (request: Request) => (await receive(request)).status }
}

test('a receiver accepts what either secret has signed, and either signature during a rotation', async () => {
  for (const secrets of [NEW, OLD, [OLD, NEW]]) {
    const { statusOf } = givenReceiver(undefined, secrets)
    expect(await statusOf(signed({ by: [NEW, OLD] }))).toBe(200)
  }
  const { statusOf } = givenReceiver(undefined, [OLD, NEW])
  expect(await statusOf(signed({ id: 'msg_2', by: [OLD] }))).toBe(200)
  expect(await statusOf(signed({ id: 'msg_3', by: [NEW] }))).toBe(200)
})

test('a receiver refuses messages that are unsigned, changed, or signed too long ago or ahead', async () => {
  const { statusOf, handled } = givenReceiver()
  const unsigned = new Request('https://shop.test/hook', { method: 'POST', body: message() })
  const wrong = [
    unsigned,
    signed({ by: [OLD] }),
    signed({ by: [] }),
    signed({ sent: message({ subject: 'customer 43' }) }),
    signed({ at: NOW - 301 }),
    signed({ at: NOW + 301 }),
    signed({ at: Number.NaN }),
  ]
  expect(await Promise.all(wrong.map(statusOf))).toEqual(wrong.map(() => 401))
  expect(handled).toEqual([])
  for (const at of [NOW - 300, NOW + 300]) expect(await statusOf(signed({ at, id: `msg_${at}` }))).toBe(200)
})

test('a repeated message is answered but not handled again, once it is done', async () => {
  const outcomes: Outcome[] = ['later', 'done']
  const { statusOf, handled } = givenReceiver(() => outcomes.shift() ?? 'done')
  const changed = () =>
    signed({ body: JSON.stringify({ type: 'account.password_changed', data: { account: 'usr_1' } }) })
  expect(await statusOf(changed())).toBe(202)
  expect([await statusOf(changed()), await statusOf(changed()), await statusOf(changed())]).toEqual([200, 200, 200])
  expect(handled).toHaveLength(2)
})

test('a deletion that comes again is handled again, because something of the account may still be there', async () => {
  const { statusOf, handled } = givenReceiver()
  expect([await statusOf(signed()), await statusOf(signed())]).toEqual([200, 200])
  expect(handled).toHaveLength(2)
})

test('a deletion without a task that is to be done later is refused with a sentence, because 202 would end it', async () => {
  const receive = createReceiver({ secrets: NEW, now: () => NOW * 1000, handle: () => 'later' })
  const answer = await receive(signed({ body: message({ task: undefined }) }))
  expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('--acknowledges later')])
  expect((await receive(signed())).status).toBe(202)
})

test('B108 a receiver says by the account alone whether anything of it is there, and nothing where it cannot', async () => {
  const ask = () =>
    signed({ body: JSON.stringify({ type: 'account.absence_check', data: { subject: '42', account: 'usr_1' } }) })
  const accounts: unknown[] = []
  const options = { secrets: NEW, now: () => NOW * 1000, handle: () => 'done' as const }
  const says = (present: boolean) =>
    createReceiver({
      ...options,
      isPresent: (...of) => {
        accounts.push(of)
        return present
      },
    })
  for (const present of [true, false]) {
    const answer = await says(present)(ask())
    expect([answer.status, await answer.json()]).toEqual([200, { present, account: 'usr_1' }])
  }
  expect(accounts).toEqual([['usr_1'], ['usr_1']])
  expect((await createReceiver(options)(ask())).status).toBe(501)
  const failing = createReceiver({ ...options, isPresent: () => Promise.reject(new Error('the database is away')) })
  expect((await failing(ask())).status).toBe(500)
})

test('a message that arrives while it is handled gets the same answer, and is handled once', async () => {
  let answer = (_outcome: Outcome) => {}
  const { statusOf, handled } = givenReceiver(() => new Promise<Outcome>((resolve) => (answer = resolve)))
  let bodiesRead = 0
  const ask = () => {
    const { headers, body } = signed()
    const request = new Request('https://shop.test/hook', {
      method: 'POST',
      headers,
      body: body?.pipeThrough(new TransformStream({ flush: () => void bodiesRead++ })),
      duplex: 'half',
    } as RequestInit)
    return statusOf(request)
  }
  const both = Promise.all([ask(), ask()])
  await expect.poll(() => handled.length === 1 && bodiesRead === 2).toBe(true)
  // Verifying takes a turn of the event loop or two.
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
  answer('later')
  expect(await both).toEqual([202, 202])
  expect(handled).toHaveLength(1)
})

test('an address that is older than the known one, or of a withdrawn account, is never handed on', async () => {
  const { statusOf, handled } = givenReceiver()
  const sent: [type: string, version?: number][] = [
    ['email_changed', 2],
    ['email_changed', 1],
    ['password_changed', 7],
    ['email_reverted', 3],
    ['withdrawn'],
    ['email_changed', 4],
    ['purged', 9],
  ]
  for (const [index, [type, version]] of sent.entries()) {
    const body = JSON.stringify({ type: `account.${type}`, timestamp: 't', data: { account: 'usr_1', version } })
    expect(await statusOf(signed({ id: `msg_${index}`, body }))).toBe(200)
  }
  const other = JSON.stringify({ type: 'account.email_changed', data: { account: 'usr_2', version: 1 } })
  expect(await statusOf(signed({ id: 'msg_of_another', body: other }))).toBe(200)
  expect(handled.map(({ data: { version } }) => version)).toEqual([2, 7, 3, undefined, 9, 1])
})

test('a change that failed is handed on again, and a newer one waits for its turn', async () => {
  const ends: ((outcome: Outcome | Error) => void)[] = []
  const { statusOf, handled } = givenReceiver(
    () => new Promise((resolve, reject) => ends.push((end) => (end instanceof Error ? reject(end) : resolve(end)))),
  )
  const change = (version: number) =>
    signed({
      id: `msg_${version}`,
      body: JSON.stringify({ type: 'account.email_changed', timestamp: 't', data: { account: 'usr_1', version } }),
    })
  const older = statusOf(change(1))
  await expect.poll(() => handled.length).toBe(1)
  const newer = statusOf(change(2))
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
  expect(handled).toHaveLength(1)
  ends[0]?.(new Error('the database is away'))
  expect(await older).toBe(500)
  await expect.poll(() => handled.length).toBe(2)
  ends[1]?.(new Error('the database is away'))
  expect(await newer).toBe(500)
  const again = statusOf(change(2))
  await expect.poll(() => handled.length).toBe(3)
  ends[2]?.('done')
  expect([await again, await statusOf(change(1))]).toEqual([200, 200])
  expect(handled).toHaveLength(3)
})

test('a body of more than 64 KiB is refused before its signature is checked', async () => {
  const { statusOf, handled } = givenReceiver()
  expect(await statusOf(signed({ body: message({ padding: 'x'.repeat(64 * 1024) }) }))).toBe(413)
  expect(handled).toEqual([])
})

test('an error of the handler is answered with 500, so that the message comes again', async () => {
  let isFailing = true
  const { statusOf } = givenReceiver(() => {
    if (isFailing) throw new Error('the database is away')
    return 'done'
  })
  expect(await statusOf(signed())).toBe(500)
  isFailing = false
  expect(await statusOf(signed())).toBe(200)
  expect(await statusOf(signed({ body: 'no json', id: 'msg_2' }))).toBe(500)
})

test('a report goes to its URL with its token, and a refusal is an ApiError', async () => {
  const requests: [unknown, RequestInit | undefined][] = []
  const answering = (response: Response | Error) => async (input: unknown, init?: RequestInit) => {
    requests.push([input, init])
    if (response instanceof Error) throw response
    return response
  }
  await reportTask(task, { status: 'processing', progress: { done: 3, total: 10 } }, answering(Response.json({})))
  const [place, init] = requests[0] ?? []
  expect(place).toBe(task.report_to)
  expect(init).toMatchObject({ method: 'POST', headers: { Authorization: 'Bearer dtk_x' } })
  expect(JSON.parse(String(init?.body))).toEqual({ status: 'processing', progress: { done: 3, total: 10 } })
  const refusal = Response.json({ error: { code: 'TASK_002', details: 'over' } }, { status: 409 })
  await expect(reportTask(task, { status: 'failed' }, answering(refusal))).rejects.toMatchObject({ code: 'TASK_002' })
  const lost = reportTask(task, { status: 'failed' }, answering(new TypeError('fetch failed')))
  await expect(lost).rejects.toMatchObject({ code: 'SERVER_002', status: 0 })
})

test('a receiver answers each check anew, and never with an empty list when it cannot say', async () => {
  const data = { subject: 'customer 42', account: 'usr_1' }
  const body = JSON.stringify({ type: 'account.withdrawal_check', timestamp: 't', data })
  const found = [[{ code: 'open_order', title: 'Order 7 is not paid' }], []]
  const checks: string[] = []
  const receive = createReceiver({
    secrets: NEW,
    now: () => NOW * 1000,
    handle: () => 'done',
    check: (subject, account) => {
      checks.push(`${subject} as ${account}`)
      const blockers = found.shift()
      if (!blockers) throw new Error('The database is away.')
      return blockers
    },
  })
  const answers = [await receive(signed({ body })), await receive(signed({ body }))]
  expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
    { blockers: [{ code: 'open_order', title: 'Order 7 is not paid' }] },
    { blockers: [] },
  ])
  expect((await receive(signed({ body }))).status).toBe(500)
  expect(checks).toEqual(Array(3).fill('customer 42 as usr_1'))
  expect((await receive(signed({ body, by: [OLD] }))).status).toBe(401)
  expect(await givenReceiver().statusOf(signed({ body }))).toBe(501)
})
