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
import { createMailEvents, headersForEvents, MAIL_EVENT_SOURCES } from './sources'

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
const asked: string[] = []
const fromAmazon = async (url: string | URL | Request) => {
  asked.push(String(url))
  const isThere = String(url).split('?')[0] === CERTIFICATE
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

test('the header that a source needs carries the id of the message', () => {
  expect(headersForEvents(settings, ID)).toEqual({
    'X-SES-MESSAGE-TAGS': `delivery=${ID}`,
    'X-PM-Metadata-delivery': ID,
    'X-Mailgun-Variables': JSON.stringify({ delivery: ID }),
    'X-SMTPAPI': JSON.stringify({ unique_args: { delivery: ID } }),
    'X-Entity-Ref-ID': ID,
  })
  for (const source of SIGNING) expect(SETTINGS[source]).toMatch(MAIL_EVENT_SOURCES[source].setting.form)
})

test('a certificate or a confirmation of another host than Amazon’s is never asked for', async () => {
  const token = { Type: 'SubscriptionConfirmation', Token: 'a token' }
  const confirm = (SubscribeURL: string) => sns({}, { ...token, SubscribeURL })
  asked.length = 0
  for (const SigningCertURL of [
    'https://sns.eu-central-1.amazonaws.com.evil.test/a.pem',
    'https://evil.test/sns.eu-central-1.amazonaws.com.pem',
    'http://sns.eu-central-1.amazonaws.com/a.pem',
    'https://sns.eu-central-1.amazonaws.com:8443/a.pem',
    'https://user@sns.eu-central-1.amazonaws.com/a.pem',
    // Storage, where anybody can have the name `sns`, and a region that is not the topic's.
    'https://sns.s3-eu-central-1.amazonaws.com/a.pem',
    'https://sns.eu-west-1.amazonaws.com/a.pem',
    'file:///etc/passwd.pem',
    'nothing',
  ]) {
    const call = toCall({}, JSON.stringify({ ...snsMessage(BOUNCE.ses), SigningCertURL }))
    await expect(read('ses', call)).rejects.toMatchObject({ code: 'AUTH_001' })
  }
  await expect(read('ses', sns(BOUNCE.ses, { TopicArn: `${TOPIC}2` }))).rejects.toMatchObject({ code: 'AUTH_001' })
  await read('ses', confirm('https://evil.test/?Action=ConfirmSubscription'))
  expect(asked.filter((url) => url !== CERTIFICATE)).toEqual([])
  const genuine = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=a'
  await read('ses', confirm(genuine))
  expect(asked).toContain(genuine)
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

test('a certificate is kept once it has proved a call, so that nobody else fills the memory with addresses of it', async () => {
  const { ses } = sourcesWith(fromAmazon)
  const asksOf = async (call: object) => {
    asked.length = 0
    await ses?.read(toCall({}, JSON.stringify(call)), NOW).catch(() => {})
    return asked.length
  }
  const genuine = snsMessage(BOUNCE.ses)
  const forged = { ...genuine, Message: '{}', SigningCertURL: `${CERTIFICATE}?another` }
  expect([await asksOf(forged), await asksOf(forged)]).toEqual([1, 1])
  expect([await asksOf(genuine), await asksOf(genuine)]).toEqual([1, 0])
})

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
