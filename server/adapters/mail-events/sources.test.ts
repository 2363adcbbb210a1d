import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { EventWebhook } from '@sendgrid/eventwebhook'
import MessageValidator from 'sns-validator'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { MAIL_SOURCES, type MailSource } from '@/contract/vocabulary'
import type { MailEvent, MailEventCall } from '@/domain/ports'
import { createCertificate } from '@/testing/certificate'
import { createMailEvents, MAIL_EVENT_SOURCES } from './sources'

const NOW = new Date('2026-11-20T09:00:00.000Z')
const ID = 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA-1763629200000'
const DELIVERY = '0123456789abcdef0123456789abcdef01234567'
const TO = 'ada.new@example.test'
const [minute, second] = [60_000, 1000]

const sendgridKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const amazon = createCertificate(tmpdir())
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:mail'
const CERTIFICATE = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem'

const SETTINGS: Record<Exclude<MailSource, 'dsn'>, string> = {
  ses: TOPIC,
  postmark: 'accounts:a-password-of-sixteen',
  mailgun: 'a-signing-key-of-mailgun',
  sendgrid: sendgridKeys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  resend: `whsec_${Buffer.from('a secret of resend, long enough').toString('base64')}`,
}
type Signing = keyof typeof SETTINGS

/** What was asked for at Amazon. */
const urls: string[] = []
const fromAmazon = async (url: string | URL | Request) => {
  urls.push(String(url))
  const isThere = String(url) === CERTIFICATE
  return new Response(isThere ? amazon.cert : 'no such certificate', { status: isThere ? 200 : 404 })
}

const settings = { mailEvents: SETTINGS, mailReturnPath: undefined, appUrl: 'https://accounts.test' }
const sourcesWith = (load: (url: string | URL | Request) => Promise<Response>) =>
  createMailEvents(settings, { fetch: load as typeof fetch })
const events = sourcesWith(fromAmazon)
const read = (source: Signing, call: MailEventCall, now = NOW) => events[source]?.read(call, now)

const seconds = (at: Date) => String(Math.floor(at.getTime() / second))
const toCall = (headers: Record<string, string>, body: string): MailEventCall => ({
  headers: new Headers({ 'Content-Type': 'application/json', ...headers }),
  body: Buffer.from(body),
})

interface SnsMessage extends Record<string, string> {
  SigningCertURL: string
}
function snsMessage(message: object, more: Record<string, string> = {}, key = amazon.key): SnsMessage {
  const signed: Record<string, string> = {
    Message: JSON.stringify(message),
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    Timestamp: NOW.toISOString(),
    TopicArn: TOPIC,
    Type: 'Notification',
    ...more,
  }
  const text = Object.keys(signed)
    .toSorted()
    .map((name) => `${name}\n${signed[name]}\n`)
    .join('')
  const Signature = sign('sha256', Buffer.from(text), key).toString('base64')
  return { ...signed, SignatureVersion: '2', Signature, SigningCertURL: CERTIFICATE }
}
const sns = (...of: Parameters<typeof snsMessage>) => toCall({}, JSON.stringify(snsMessage(...of)))

const BOUNCE = {
  ses: {
    eventType: 'Bounce',
    mail: { tags: { delivery: [ID] } },
    bounce: {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      bouncedRecipients: [{ emailAddress: TO, action: 'failed', status: '5.1.1' }],
      timestamp: NOW.toISOString(),
    },
  },
  postmark: {
    RecordType: 'Bounce',
    Type: 'HardBounce',
    Email: TO,
    BouncedAt: NOW.toISOString(),
    Metadata: { delivery: ID },
  },
  mailgun: {
    event: 'failed',
    severity: 'permanent',
    recipient: TO,
    timestamp: NOW.getTime() / second,
    message: { headers: { 'message-id': `${DELIVERY}@accounts.test` } },
  },
  sendgrid: [
    {
      event: 'bounce',
      type: 'bounce',
      email: TO,
      timestamp: NOW.getTime() / second,
      'smtp-id': `<${DELIVERY}@accounts.test>`,
    },
  ],
  resend: {
    type: 'email.bounced',
    created_at: NOW.toISOString(),
    data: { to: [TO], tags: { delivery: ID }, bounce: { type: 'Permanent' } },
  },
}

/** A call as the source makes it. `key` is not the source's where it is given. */
const CALLS: Record<Signing, (content: object, at?: Date, isForged?: boolean) => MailEventCall> = {
  ses: (content, at = NOW, isForged = false) =>
    sns(content, { Timestamp: at.toISOString() }, isForged ? createCertificate(tmpdir()).key : undefined),
  postmark: (content, _at, isForged = false) =>
    toCall(
      { Authorization: `Basic ${Buffer.from(isForged ? 'accounts:another' : SETTINGS.postmark).toString('base64')}` },
      JSON.stringify(content),
    ),
  mailgun(content, at = NOW, isForged = false) {
    const [timestamp, token] = [seconds(at), 'f'.repeat(50)]
    const key = isForged ? 'another key' : SETTINGS.mailgun
    const signature = createHmac('sha256', key)
      .update(timestamp + token)
      .digest('hex')
    return toCall({}, JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': content }))
  },
  sendgrid(content, at = NOW, isForged = false) {
    const [timestamp, body] = [seconds(at), JSON.stringify(content)]
    const key: KeyObject = isForged
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      : sendgridKeys.privateKey
    const signature = sign('sha256', Buffer.from(timestamp + body), key).toString('base64')
    const prefix = 'X-Twilio-Email-Event-Webhook'
    return toCall({ [`${prefix}-Signature`]: signature, [`${prefix}-Timestamp`]: timestamp }, body)
  },
  resend(content, at = NOW, isForged = false) {
    const body = JSON.stringify(content)
    const secret = isForged ? `whsec_${Buffer.from('another').toString('base64')}` : SETTINGS.resend
    const signature = new Webhook(secret).sign('msg_1', at, body)
    return toCall({ 'svix-id': 'msg_1', 'svix-timestamp': seconds(at), 'svix-signature': signature }, body)
  },
}

const SIGNING = MAIL_SOURCES.filter((source): source is Signing => source !== 'dsn')
const EVENT: Omit<MailEvent, 'message'> = { addresses: [TO], state: 'undeliverable', isPermanent: true, at: NOW }
/** These tell the Message-ID. */
const QUOTING: readonly Signing[] = ['mailgun', 'sendgrid']

test.each(SIGNING)('%s tells which message came back, from whom, and when', async (source) => {
  expect(SETTINGS[source]).toMatch(MAIL_EVENT_SOURCES[source].setting.form)
  const message = QUOTING.includes(source) ? { deliveryId: DELIVERY } : { id: ID }
  expect(await read(source, CALLS[source](BOUNCE[source]))).toEqual([{ ...EVENT, message }])
})

test.each(SIGNING)('a call that is not signed by %s is refused, however it differs', async (source) => {
  const genuine = CALLS[source](BOUNCE[source])
  const forged = [CALLS[source](BOUNCE[source], NOW, true), toCall({}, ''), toCall({}, '{}')]
  // The last characters in base64 may differ and mean the same bytes.
  const spoilt = (value: string, n: number) => {
    const at = (n * 7) % (value.length - 4)
    return value.slice(0, at) + (value[at] === 'x' ? 'y' : 'x') + value.slice(at + 1)
  }
  for (let n = 0; n < 200; n++) {
    for (const [name, value] of genuine.headers) {
      if (name === 'content-type') continue
      const headers = new Headers(genuine.headers)
      headers.set(name, spoilt(value, n))
      forged.push({ headers, body: genuine.body })
    }
    const body = Buffer.from(genuine.body)
      .toString()
      .replace(/(?<="signature":")[^"]+/i, (signature) => spoilt(signature, n))
    if (body !== Buffer.from(genuine.body).toString())
      forged.push({ headers: genuine.headers, body: Buffer.from(body) })
  }
  expect(forged.length).toBeGreaterThan(200)
  for (const call of forged) await expect(read(source, call)).rejects.toMatchObject({ code: 'AUTH_001' })
})

/** Postmark signs no time, and Amazon repeats a call with its first one. */
test.each(SIGNING.filter((source) => source !== 'postmark' && source !== 'ses'))(
  'a call that %s signed more than five minutes ago is refused',
  async (source) => {
    const call = CALLS[source](BOUNCE[source], new Date(NOW.getTime() - 5 * minute))
    expect(await read(source, call)).toHaveLength(1)
    await expect(read(source, call, new Date(NOW.getTime() + second))).rejects.toMatchObject({ code: 'AUTH_001' })
  },
)

test.each(SIGNING)(
  'what %s tells of others’ messages, or in a form that nobody knows, says nothing',
  async (source) => {
    const text = JSON.stringify(BOUNCE[source])
    const others = JSON.parse(text.replaceAll(ID, 'somebody').replaceAll('accounts.test', 'elsewhere.test'))
    // A name that every object has.
    const unknown = JSON.parse(text.replace(/"(HardBounce|failed|bounce|email\.bounced)"/g, '"constructor"'))
    for (const content of [others, unknown, { something: 'else' }, [], [1, null]]) {
      expect(await read(source, CALLS[source](content))).toEqual([])
    }
  },
)

test('a certificate or a confirmation of another host than Amazon’s is never asked for', async () => {
  const token = { Type: 'SubscriptionConfirmation', Token: 'a token' }
  const confirm = (SubscribeURL: string) => sns({}, { ...token, SubscribeURL })
  urls.length = 0
  for (const SigningCertURL of [
    'https://sns.eu-central-1.amazonaws.com.evil.test/SimpleNotificationService-1.pem',
    'https://evil.test/sns.eu-central-1.amazonaws.com.pem',
    'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem',
    'https://sns.eu-central-1.amazonaws.com:8443/SimpleNotificationService-1.pem',
    'https://user@sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem',
    'https://sns.eu-central-1.amazonaws.com/a.pem',
    'https://sns.eu-central-1.amazonaws.com/a/SimpleNotificationService-1.pem',
    'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-xyz.pem',
    `${CERTIFICATE}?another`,
    `${CERTIFICATE}#another`,
    'https://sns.eu-central-1.amazonaws.com?/SimpleNotificationService-1.pem',
    // Storage, where anybody can have the name `sns`, and a region that is not the topic's.
    'https://sns.s3-eu-central-1.amazonaws.com/SimpleNotificationService-1.pem',
    'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem',
    'file:///etc/passwd.pem',
    'nothing',
  ]) {
    const call = toCall({}, JSON.stringify({ ...snsMessage(BOUNCE.ses), SigningCertURL }))
    await expect(read('ses', call)).rejects.toMatchObject({ code: 'AUTH_001' })
  }
  await expect(read('ses', sns(BOUNCE.ses, { TopicArn: `${TOPIC}2` }))).rejects.toMatchObject({ code: 'AUTH_001' })
  await read('ses', confirm('https://evil.test/?Action=ConfirmSubscription'))
  expect(urls.filter((url) => url !== CERTIFICATE)).toEqual([])
  const genuine = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=a'
  await read('ses', confirm(genuine))
  expect(urls).toContain(genuine)
})

test.each([
  ['cannot be reached', () => Promise.reject(new TypeError('fetch failed'))],
  ['is out of order', async () => new Response('', { status: 503 })],
])('a confirmation has to be sent again while Amazon %s', async (_what, answer) => {
  const { ses } = sourcesWith(async (url) => (String(url) === CERTIFICATE ? fromAmazon(url) : answer()))
  const SubscribeURL = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=a'
  const call = sns({}, { Type: 'SubscriptionConfirmation', Token: 'a token', SubscribeURL })
  await expect(ses?.read(call, NOW)).rejects.toMatchObject({ code: 'SERVER_002' })
})

test('B69 made-up certificates cost few calls to Amazon, calls of one moment share one, and one that has proved a call is kept', async () => {
  const { ses } = sourcesWith(fromAmazon)
  const genuine = snsMessage(BOUNCE.ses)
  const codesOf = (calls: object[], now = NOW) =>
    Promise.all(calls.map((call) => codeOf(ses?.read(toCall({}, JSON.stringify(call)), now))))
  const madeUp = (n: number) => ({
    ...genuine,
    SigningCertURL: CERTIFICATE.replace('-1.pem', `-${n.toString(16)}f.pem`),
  })
  urls.length = 0
  expect(await codesOf(Array(5).fill(madeUp(0)))).toEqual(Array(5).fill('AUTH_001'))
  expect(urls).toHaveLength(1)
  expect(await codesOf([genuine, genuine])).toEqual(['read', 'read'])
  expect(urls).toHaveLength(2)
  const codes = await codesOf(Array.from({ length: 500 }, (_, n) => madeUp(n)))
  expect(urls).toHaveLength(10)
  // What Amazon has not been asked about has to be sent again.
  expect(codes.filter((code) => code === 'SERVER_002')).toHaveLength(491)
  const later = new Date(NOW.getTime() + minute)
  expect(await codesOf([genuine, madeUp(999)], later)).toEqual(['read', 'AUTH_001'])
  expect(urls).toHaveLength(11)
})

const codeOf = (reading: Promise<unknown> | undefined) =>
  (reading ?? Promise.resolve()).then(
    () => 'read',
    ({ code }) => code,
  )

test('a call of Amazon is taken hours after its first time, which it keeps when it is repeated', async () => {
  const call = CALLS.ses(BOUNCE.ses)
  expect(await read('ses', call, new Date(NOW.getTime() + 60 * minute))).toHaveLength(1)
})

/** A bounce that says nothing of the address. Some are not tried again, so that the message will not arrive. */
const SOFT: [source: Signing, what: string, change: object, state?: MailEvent['state']][] = [
  ['resend', 'Transient', { data: { ...BOUNCE.resend.data, bounce: { type: 'Transient', subType: 'MailboxFull' } } }],
  ['resend', 'without a type', { data: { ...BOUNCE.resend.data, bounce: null } }],
  ['resend', 'suppressed', { type: 'email.suppressed' }],
  ['sendgrid', 'blocked', { type: 'blocked' }],
  ['sendgrid', 'of a full mailbox', { status: '5.2.2' }],
  ['sendgrid', 'expired', { type: 'expired' }],
  ['sendgrid', 'dropped', { event: 'dropped', reason: 'Bounced Address' }],
  ['postmark', 'SoftBounce', { Type: 'SoftBounce' }],
  ['postmark', 'Blocked', { Type: 'Blocked' }],
  ['mailgun', 'given up', { reason: 'old' }],
  ['mailgun', 'of a full mailbox', { 'delivery-status': { 'bounce-type': 'soft' } }],
  ['mailgun', 'with the status of one', { 'delivery-status': { code: 552, 'enhanced-code': '5.2.2' } }],
  ['mailgun', 'without a severity', { severity: null }, 'deferred'],
  ['ses', 'MailboxFull', { bounce: { ...BOUNCE.ses.bounce, bounceType: 'Transient', bounceSubType: 'MailboxFull' } }],
  ['ses', 'Undetermined', { bounce: { ...BOUNCE.ses.bounce, bounceType: 'Undetermined' } }, 'deferred'],
]

test.each(SOFT)('B71 a bounce of %s, %s, is not permanent', async (source, _what, change, state = 'undeliverable') => {
  const content = Array.isArray(BOUNCE[source])
    ? [{ ...BOUNCE[source][0], ...change }]
    : { ...BOUNCE[source], ...change }
  expect(await read(source, CALLS[source](content))).toMatchObject([{ state, isPermanent: false, addresses: [TO] }])
})

/** As the sources also tell it: names in other letters, addresses as mailboxes, and nothing in members that say nothing to us. */
const VARIED: Record<Signing, object> = {
  ses: {
    ...BOUNCE.ses,
    complaint: null,
    delivery: null,
    mail: { tags: { Delivery: [ID] }, headers: null, commonHeaders: null },
    bounce: { ...BOUNCE.ses.bounce, bounceSubType: null, bouncedRecipients: [{ emailAddress: `Ada <${TO}>` }] },
  },
  postmark: { ...BOUNCE.postmark, Recipient: null, Email: `"Ada <L.>" <${TO}>`, Metadata: { Delivery: ID } },
  mailgun: {
    ...BOUNCE.mailgun,
    reason: null,
    recipient: `Ada <${TO}>`,
    'user-variables': [],
    'delivery-status': null,
    message: { headers: { 'Message-Id': `<${DELIVERY}@accounts.test>` } },
  },
  sendgrid: [{ ...BOUNCE.sendgrid[0], email: `Ada <${TO}>`, type: null, 'smtp-id': null, Delivery: ID }],
  resend: {
    ...BOUNCE.resend,
    data: {
      to: [`Ada <${TO}>`, null],
      tags: null,
      headers: [null, { name: 'x-entity-ref-id', value: ID }],
      message_id: null,
      bounce: { type: 'Permanent' },
    },
  },
}

test.each(SIGNING)(
  'B72 an event of %s is read whatever its spelling, and whatever says nothing in it',
  async (source) => {
    const message = source === 'mailgun' ? { deliveryId: DELIVERY } : { id: ID }
    expect(await read(source, CALLS[source](VARIED[source]))).toEqual([{ ...EVENT, message }])
  },
)

test.each(SIGNING)('a bounce of %s without a time is read, and has none', async (source) => {
  const untimed = JSON.parse(
    JSON.stringify(BOUNCE[source], (name, value) => (/^(timestamp|created_at|BouncedAt)$/.test(name) ? null : value)),
  )
  expect(await read(source, CALLS[source](untimed))).toMatchObject([{ at: null, addresses: [TO] }])
})

test.each(SIGNING)(
  '%s sends JSON, and another media type is refused before its signature is looked at',
  async (source) => {
    for (const type of ['message/rfc822', 'image/png', '', ...(source === 'ses' ? [] : ['text/plain'])]) {
      const call = { headers: new Headers({ 'Content-Type': type }), body: Buffer.from('') }
      expect(await codeOf(read(source, call))).toBe('REQUEST_003')
    }
    const { headers, body } = CALLS[source](BOUNCE[source])
    headers.set('Content-Type', source === 'ses' ? 'text/plain; charset=UTF-8' : 'Application/JSON; charset=utf-8')
    expect(await read(source, { headers, body })).toHaveLength(1)
  },
)

test('the providers’ own verifiers accept the calls of this test', async () => {
  const { headers, body } = CALLS.sendgrid(BOUNCE.sendgrid)
  const sendgrid = new EventWebhook()
  const prefix = 'X-Twilio-Email-Event-Webhook'
  const [signature, timestamp] = [headers.get(`${prefix}-Signature`) ?? '', headers.get(`${prefix}-Timestamp`) ?? '']
  const key = sendgrid.convertPublicKeyToECDSA(SETTINGS.sendgrid)
  expect(sendgrid.verifySignature(key, Buffer.from(body), signature, timestamp)).toBe(true)

  // It asks Amazon for the certificate.
  vi.spyOn(https, 'get').mockImplementation(((_url: string, answered: (response: object) => void) => {
    const response = Object.assign(new PassThrough(), { statusCode: 200 })
    answered(response)
    response.end(amazon.cert)
    return response
  }) as never)
  const validated = new Promise((resolve, reject) =>
    new MessageValidator().validate(snsMessage(BOUNCE.ses), (error, message) =>
      error ? reject(error) : resolve(message),
    ),
  )
  await expect(validated).resolves.toMatchObject({ TopicArn: TOPIC })
  vi.restoreAllMocks()
})
