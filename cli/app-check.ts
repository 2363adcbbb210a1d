import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSuccess, signedHeaders } from '@/domain/applications/webhook'

/** A receiver has to answer a call within ten seconds. */
const MAX_WAIT_MS = 10_000
/** How long a deletion that was accepted has time before it is looked what it deleted. */
const DELETION_MS = 2_000
/** Sent in parts, a call takes so long. */
const SLOW_MS = 1_000

interface Check {
  call: string
  /** What the answer should be, in words. */
  wanted: string
  isRight(status: number, body: string): boolean
  /** What to mend where it is not. */
  mend: string
  ask(receiver: Receiver): Promise<Answer>
}

interface Answer {
  /** 0 without an answer. */
  status: number
  body: string
}

interface Message {
  id?: string
  body?: string
  /** Sent instead of the signed body. */
  sent?: string
  /** Seconds from now. */
  at?: number
  /** With which it is signed, if not with the application's own alone. */
  secrets?: string[]
  headers?: Record<string, string | undefined>
  method?: string
  /** Cuts the connection after half of the body, or sends the body in parts. */
  pace?: 'cut' | 'slow'
}

interface CheckedReceiver {
  url: string
  secret: string
  /** Where reports go; this service knows no task of the check, and refuses them. */
  appUrl: string
  /** Whether it is asked before a withdrawal. */
  checks: boolean
  /** A test person whom it has, if it is asked whether a person is absent. */
  person?: Person | undefined
}

interface Person {
  subject: string
  account: string
}

export interface CallResult {
  result: 'ok' | 'FAIL'
  call: string
  wanted: string
  answer: string
  /** Said once, where several calls need the same. */
  mend?: string
}

/**
 * Sends an application's receiver signed, forged, doubled, late, cut, slow and reordered calls about a made-up person, and says what to
 * mend where an answer is not what the service needs.
 */
export async function checkReceiver({ url, secret, appUrl, checks, person }: CheckedReceiver): Promise<CallResult[]> {
  const receiver = new Receiver(url, secret, appUrl)
  const results: CallResult[] = []
  const said = new Set<string>()
  const optional = [...(checks ? [WITHDRAWAL_CHECK] : []), ...(person ? absenceChecks(person) : [])]
  for (const { call, wanted, isRight, mend: advice, ask } of [...CHECKS, ...optional, LAST_CHECK]) {
    const { status, body } = await ask(receiver)
    const answer = status === 0 ? 'no answer' : String(status)
    const isOk = isRight(status, body)
    const isSilent = status === 0 && results.length === 0
    const mend = isSilent ? SILENT : advice
    results.push({ result: isOk ? 'ok' : 'FAIL', call, wanted, answer, ...(!isOk && !said.has(mend) && { mend }) })
    if (!isOk) said.add(mend)
    // Each of the others would be waited for as long.
    if (isSilent) break
  }
  return results
}

/** What the service sends, and what others could. */
class Receiver {
  readonly subject = `nobody-${randomBytes(8).toString('hex')}`
  readonly account = `usr_${randomBytes(16).toString('base64url')}`

  constructor(
    private readonly url: string,
    readonly secret: string,
    private readonly appUrl: string,
  ) {}

  message(type: string, data: object = {}): string {
    const shared = { subject: this.subject, account: this.account, ...data }
    return JSON.stringify({ type, timestamp: new Date().toISOString(), data: shared })
  }

  /** As `app ping` sends it. */
  ping(): string {
    return JSON.stringify({ type: 'ping', timestamp: new Date().toISOString(), data: {} })
  }

  askForAbsence(person: Person): Promise<Answer> {
    return this.send({
      body: this.message('account.absence_check', { subject: person.subject, account: person.account }),
    })
  }

  withdrawn(version = 2, subject = this.subject): string {
    const task = {
      id: 'msg_check',
      due_by: new Date(Date.now() + 24 * 3600 * 1000).toISOString(),
      report_to: `${this.appUrl}/api/v1/tasks/msg_check`,
      report_token: 'dtk_check',
    }
    return this.message('account.withdrawn', { withdrawal_id: 'wd_check', subject, version, task })
  }

  async send({ secrets = [this.secret], at = 0, ...message }: Message = {}): Promise<Answer> {
    const { id = newId(), body = this.ping(), sent = body, ...more } = message
    const signed = signedHeaders(id, new Date(Date.now() + at * 1000), body, secrets)
    return exchange(this.url, { method: 'POST', ...more, headers: { ...signed, ...more.headers }, sent })
  }
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const newId = () => `msg_check${randomBytes(12).toString('base64url')}`

function exchange(url: string, { method, headers = {}, sent = '', pace }: Message): Promise<Answer> {
  return new Promise((resolve) => {
    const none = () => resolve({ status: 0, body: '' })
    const length = { 'Content-Length': String(Buffer.byteLength(sent)) }
    const given = Object.entries({ ...headers, ...(method === 'GET' ? {} : length) }).filter(
      ([, value]) => value !== undefined,
    )
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const call = send(
      url,
      { method, headers: Object.fromEntries(given), timeout: MAX_WAIT_MS + SLOW_MS },
      (incoming) => {
        const parts: Buffer[] = []
        incoming.on('data', (part) => parts.push(part))
        incoming.once('error', none)
        incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(parts).toString() }))
      },
    )
    call.once('error', none)
    call.once('close', none)
    call.once('timeout', () => call.destroy())
    if (method === 'GET') call.end()
    else if (pace === undefined) call.end(sent)
    else void inParts(call, sent, pace)
  })
}

async function inParts(call: ReturnType<typeof httpRequest>, sent: string, pace: 'cut' | 'slow') {
  const parts = 4
  const size = Math.ceil(sent.length / parts)
  for (let part = 0; part < parts; part++) {
    call.write(sent.slice(part * size, (part + 1) * size))
    await sleep(SLOW_MS / parts)
    if (pace === 'cut' && part === 1) return call.destroy()
  }
  call.end()
}

const isSuccessful = (status: number) => isSuccess({ status })
const isRefused = (status: number) => status >= 400
const SUCCESS = '2xx, 404 or 410'
const refusal = (best: number) => `4xx or 5xx, best ${best}`

/** Refused, because nobody but the service may say this. */
const forged = (call: string, mend: string, how: (receiver: Receiver) => Message): Check => ({
  call,
  wanted: refusal(401),
  isRight: isRefused,
  mend,
  ask: (receiver) => receiver.send({ body: receiver.withdrawn(), ...how(receiver) }),
})
const succeeds = (call: string, mend: string, how: (receiver: Receiver) => Message): Check => ({
  call,
  wanted: SUCCESS,
  isRight: isSuccessful,
  mend,
  ask: (receiver) => receiver.send(how(receiver)),
})

const SILENT =
  'Start the receiver, and see that this machine can reach it. Nothing else was tried, because nobody answers.'
const VERIFY =
  'Verify webhook-signature over "<webhook-id>.<webhook-timestamp>.<body as it came>" before anything else.'
const FRESH = 'Refuse a webhook-timestamp that is more than five minutes away from your clock.'
const UNKNOWN =
  'Answer 2xx, 404 or 410 for a person that you do not know; anything else makes the message come again for a week.'
const FORWARD = 'Accept types and members that you do not know; newer releases send more.'

const CHECKS: Check[] = [
  succeeds('a signed message', VERIFY, () => ({})),
  forged('no signature', VERIFY, () => ({ headers: { 'webhook-signature': undefined } })),
  forged('an empty signature', VERIFY, () => ({ headers: { 'webhook-signature': '' } })),
  forged('no headers of ours at all', VERIFY, () => ({
    headers: { 'webhook-signature': undefined, 'webhook-id': undefined, 'webhook-timestamp': undefined },
  })),
  forged('signed with another secret', VERIFY, () => ({ secrets: [newSecret()] })),
  forged('another body than the signed one', VERIFY, (receiver) => ({ sent: receiver.withdrawn(3) })),
  forged('another id than the signed one', VERIFY, () => ({ headers: { 'webhook-id': newId() } })),
  forged('a signature of a scheme that you do not know', VERIFY, () => ({
    headers: { 'webhook-signature': `v9,${'A'.repeat(43)}=` },
  })),
  forged('a signature that is cut', VERIFY, () => ({ headers: { 'webhook-signature': 'v1,AAAA' } })),
  forged('signed six minutes ago', FRESH, () => ({ at: -360 })),
  forged('signed six minutes ahead', FRESH, () => ({ at: 360 })),
  forged('a time that is no number', FRESH, () => ({ headers: { 'webhook-timestamp': 'now' } })),
  succeeds(
    'two signatures, the second right',
    'Accept a call when any of the signatures, separated by blanks, is right.',
    ({ secret }) => ({ secrets: [newSecret(), secret] }),
  ),
  {
    call: 'a GET',
    wanted: refusal(405),
    isRight: isRefused,
    mend: 'Take POST only.',
    ask: (receiver) => receiver.send({ method: 'GET' }),
  },
  {
    call: 'a signed text that is not JSON',
    wanted: refusal(400),
    isRight: isRefused,
    mend: 'Refuse what you cannot read; 2xx says that it is done.',
    ask: (receiver) => receiver.send({ body: '{"type":' }),
  },
  succeeds('a type that you do not know', FORWARD, (receiver) => ({ body: receiver.message('account.of_tomorrow') })),
  succeeds('members that you do not know', FORWARD, (receiver) => ({
    body: receiver.message('account.email_changed', { version: 1, of_tomorrow: { list: [1] } }),
  })),
  succeeds('an address that has changed, of an unknown person', UNKNOWN, (receiver) => ({
    body: receiver.message('account.email_changed', { version: 1 }),
  })),
  succeeds('a deletion of an unknown person', UNKNOWN, (receiver) => ({
    id: 'msg_check_once',
    body: receiver.withdrawn(),
  })),
  succeeds(
    'the same message again',
    'Remember the ids of messages that are done, and answer a repeated one as before.',
    (receiver) => ({ id: 'msg_check_once', body: receiver.withdrawn() }),
  ),
  {
    call: 'the same message five times at once',
    wanted: `${SUCCESS}, each`,
    isRight: isSuccessful,
    mend: 'Let calls that run at the same time with one id share one result.',
    async ask(receiver) {
      const message = { id: newId(), body: receiver.withdrawn() }
      const answers = await Promise.all(Array.from({ length: 5 }, () => receiver.send(message)))
      return answers.find(({ status }) => !isSuccessful(status)) ?? (answers[0] as Answer)
    },
  },
  succeeds(
    'an older version after a newer one',
    'Keep the newest version of each account, and answer older ones with 2xx.',
    (receiver) => ({ body: receiver.message('account.email_changed', { version: 1 }) }),
  ),
  succeeds('a body of 40 KB', 'Take bodies of up to 64 KiB.', (receiver) => ({
    body: receiver.message('account.of_tomorrow', { padding: 'x'.repeat(40_000) }),
  })),
  succeeds('a body that comes in parts', 'Wait for the whole body; a network may be slow.', () => ({ pace: 'slow' })),
]

const WITHDRAWAL_CHECK: Check = {
  call: 'a question before a withdrawal',
  wanted: '200 with {"blockers":[…]}',
  mend: 'Answer with {"blockers": []} when nothing holds the withdrawal of this person back, also if you do not know them.',
  isRight(status, body) {
    try {
      return status === 200 && Array.isArray(JSON.parse(body).blockers)
    } catch {
      return false
    }
  },
  ask: (receiver) => receiver.send({ body: receiver.message('account.withdrawal_check') }),
}

const BY_ACCOUNT =
  'Look by the account and never by the subject alone: whoever came back after a deletion has another account with the same subject.'

/** Asks about the test person, and about a former account of somebody with the same subject. */
function absenceChecks({ subject, account }: Person): Check[] {
  const says = (call: string, present: boolean, mend: string, about: (receiver: Receiver) => Person): Check => ({
    call,
    wanted: `200 with {"present":${present},"account":"…"}`,
    mend,
    isRight: (status, body) => status === 200 && body !== '' && isAnswer(body, present),
    async ask(receiver) {
      const person = about(receiver)
      const answer = await receiver.askForAbsence(person)
      // An answer about somebody else is none.
      return answer.body.includes(JSON.stringify(person.account)) ? answer : { ...answer, body: '' }
    },
  })
  return [
    says(
      'whether an account is absent that nobody has',
      false,
      'Answer with {"present": false, "account": "…"} and the account of the question where you have nothing of it.',
      (receiver) => receiver,
    ),
    says(
      'whether a person is absent who is there',
      true,
      'Answer with {"present": true, "account": "…"} while you have anything of the account.',
      () => ({ subject, account }),
    ),
    says('whether the former account of a person is absent who came back', false, BY_ACCOUNT, (receiver) => ({
      subject,
      account: receiver.account,
    })),
    {
      call: 'the deletion of the former account of a person who came back',
      wanted: `${SUCCESS}, and the person is still there`,
      mend: `${BY_ACCOUNT} This receiver has deleted the test person.`,
      isRight: (status, body) => isSuccessful(status) && isAnswer(body, true),
      async ask(receiver) {
        const { status } = await receiver.send({ body: receiver.withdrawn(2, subject) })
        if (status === 202) await sleep(DELETION_MS)
        return { status, body: (await receiver.askForAbsence({ subject, account })).body }
      },
    },
  ]
}

function isAnswer(body: string, present: boolean): boolean {
  try {
    return JSON.parse(body).present === present
  } catch {
    return false
  }
}

/** Comes last, because it may end a receiver. */
const LAST_CHECK: Check = {
  call: 'a call that is cut, and one after it',
  wanted: `${SUCCESS} for the second`,
  isRight: isSuccessful,
  mend: 'A connection that breaks must not end the receiver.',
  async ask(receiver) {
    await receiver.send({ body: receiver.withdrawn(), pace: 'cut' })
    return receiver.send()
  },
}
