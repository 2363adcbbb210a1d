import { generateKeyPairSync } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { expect, onTestFinished, test } from 'vitest'
import { parseAddress } from '@/contract/address'
import { deliveryId } from '@/domain/mail/mail-deliveries'
import type { Message } from '@/domain/ports'
import { logged } from '@/testing/install-context'
import { listening } from '@/testing/listening'
import { getEnv } from '../settings/env'
import { metrics } from '../watch/metrics'
import { checkMailServer } from './check-mail-server'
import { createMailEvents } from './mail-events/sources'
import { createMailer } from './mailer'
import { createSecrets } from './secrets'

interface Delivery {
  from: string
  recipients: string[]
  mail: Email
}

const secrets = createSecrets({ auth: ['auth-secret-for-tests'], code: ['code-secret-for-tests'] })
const settings = {
  ...getEnv(),
  mailFrom: 'User Account Service <no-reply@accounts.test>',
  supportEmail: 'support@accounts.test',
  appUrl: 'https://accounts.test',
}

/** A mail server that records what it accepts, and a mailer that uses it. */
async function givenMailServer(options: SMTPServerOptions = {}) {
  const deliveries: Delivery[] = []
  const commands: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    closeTimeout: 50,
    onRcptTo({ address }, _session, callback) {
      commands.push(`RCPT ${address}`)
      callback()
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        const recipients = envelope.rcptTo.map(({ address }) => address)
        deliveries.push({ from, recipients, mail: await PostalMime.parse(Buffer.concat(chunks)) })
        callback()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  const port = await listening(server.server)
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return {
    deliveries,
    commands,
    port,
    mailer: createMailer({ ...settings, smtpUrl: `smtp://127.0.0.1:${port}` }, secrets),
  }
}

/** A server that does with a connection only what the test says. */
async function givenRawServer(onConnection: (socket: Socket) => void, changes: Partial<typeof settings> = {}) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  const port = await listening(server)
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return createMailer({ ...settings, ...changes, smtpUrl: `smtp://127.0.0.1:${port}` }, secrets)
}

const CODE = '042137'
const LINK = `https://accounts.test/verify-email#request=ecr_7Yc1fVn0Qk2mXh3rTzB8dA&code=${CODE}`
const verification = (changes: Partial<Extract<Message, { template: 'verify-new-email' }>> = {}): Message => ({
  template: 'verify-new-email',
  isOwn: false,
  userName: 'Ada Lovelace',
  currentEmail: 'a••••@example.test',
  newEmail: 'ada@b.test',
  code: CODE,
  link: LINK,
  validMs: 12 * 60 * 60 * 1000,
  validUntil: new Date('2026-11-20T21:00:00Z'),
  firstMethod: 'email_code',
  ...changes,
})
const letter = (message: Message, to = 'ada@b.test') => ({
  to,
  id: 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA',
  userId: 'usr_x',
  locale: null,
  message,
})

const only = (deliveries: Delivery[]): Delivery => {
  expect(deliveries).toHaveLength(1)
  return deliveries[0] as Delivery
}
const headersNamed = ({ mail }: Delivery, name: string) => mail.headers.filter(({ key }) => key === name)
const linksOf = (html: string) =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&'))

test('B15 B16 a message has one recipient in envelope and header, and no other', async () => {
  const { mailer, deliveries, commands } = await givenMailServer()
  expect(await mailer.send(letter(verification()))).toBe('accepted')
  const delivery = only(deliveries)
  expect(commands).toEqual(['RCPT ada@b.test'])
  expect([delivery.from, delivery.recipients]).toEqual(['no-reply@accounts.test', ['ada@b.test']])
  expect(delivery.mail.to).toEqual([{ name: '', address: 'ada@b.test' }])
  expect(headersNamed(delivery, 'to')).toHaveLength(1)
  for (const name of ['cc', 'bcc', 'reply-to']) expect(headersNamed(delivery, name)).toEqual([])
  expect(headersNamed(delivery, 'from')).toMatchObject([{ value: settings.mailFrom }])
  expect(headersNamed(delivery, 'auto-submitted')).toMatchObject([{ value: 'auto-generated' }])
})

test('B111 the receipt of a deletion arrives as a file, byte for byte', async () => {
  const { mailer, deliveries } = await givenMailServer()
  const receipt = `${'a'.repeat(2_000)}.b-_.c`
  const at = new Date('2026-11-20T09:00:00Z')
  const started: Message = {
    template: 'account-withdrawal-started',
    ...{ way: 'settings', userName: 'Ada', requestedAt: at, scheduledCompletion: at, receipt },
    ...{ kept: { chosen: [], days: 30, until: at }, progressUrl: 'https://accounts.test/withdrawal/wd_x#token=wst_x' },
  }
  expect(await mailer.send(letter(started))).toBe('accepted')
  expect(await mailer.send(letter({ ...started, receipt: null }))).toBe('accepted')
  const [carrying, bare] = deliveries.map(({ mail }) => mail.attachments)
  expect(carrying).toMatchObject([{ filename: 'deletion-receipt.jws', mimeType: 'application/jose' }])
  expect(Buffer.from(carrying?.[0]?.content as ArrayBuffer).toString()).toBe(receipt)
  expect(bare).toEqual([])
})

test('F3 a message that is sent again keeps its Message-ID, and another message has another', async () => {
  const { mailer, deliveries } = await givenMailServer()
  for (const id of ['ntc_one', 'ntc_one', 'ntc_two']) await mailer.send({ ...letter(verification()), id })
  const ids = deliveries.map(({ mail }) => mail.messageId)
  const [one, two] = ['ntc_one', 'ntc_two'].map((id) => `<${deliveryId(secrets, id)}@accounts.test>`)
  expect(ids).toEqual([one, one, two])
  expect(two).not.toBe(one)
})

/** A mailer, and the bytes that it sends: the server's library decodes headers and shows addresses in Unicode. */
async function givenWire(changes: Partial<typeof settings> = {}) {
  const { port, deliveries } = await givenMailServer()
  let sent = ''
  const relay = await givenRawServer((socket) => {
    const server = connect(port, '127.0.0.1')
    server.on('error', () => socket.destroy())
    socket.on('data', (data) => {
      sent += data.toString('latin1')
    })
    socket.pipe(server).pipe(socket)
  }, changes)
  return { mailer: relay, deliveries, sent: () => sent }
}

test('an international domain is an A-label on the wire, in the command and in the header', async () => {
  const { mailer, sent } = await givenWire()
  const address = parseAddress('Ada@BÜCHER.test')
  expect(await mailer.send(letter(verification({ newEmail: address?.typed ?? '' }), address?.deliverable))).toBe(
    'accepted',
  )
  expect(sent().match(/^(RCPT TO|To):.*$/gim)).toEqual([
    'RCPT TO:<Ada@xn--bcher-kva.test>',
    'To: Ada@xn--bcher-kva.test',
  ])
  expect(sent()).not.toContain('SMTPUTF8')
})

// The server of the other tests refuses them, also in quotes.
test.each([
  ['a..b@docomo.ne.jp', '"a..b"@docomo.ne.jp'],
  ['ab.@ezweb.ne.jp', '"ab."@ezweb.ne.jp'],
])('B132 a message to %s leaves for %s, which is how SMTP writes such an address', async (address, written) => {
  let sent = ''
  const mailer = await givenRawServer((socket) => {
    socket.write('220 accounts.test\r\n')
    socket.on('data', (data) => {
      sent += data
      const isWithin = sent.includes('\r\nDATA\r\n') && !sent.endsWith('\r\n.\r\n')
      if (!isWithin || sent.endsWith('\r\nDATA\r\n')) socket.write(isWithin ? '354 go on\r\n' : '250 yes\r\n')
    })
  })
  expect(await mailer.send(letter(verification(), address))).toBe('accepted')
  expect(sent.match(/^(RCPT TO|To):.*$/gim)).toEqual([`RCPT TO:<${written}>`, `To: <${written}>`])
})

test('B72 the headers that providers read leave as they are, JSON among them, and Postmark’s event names the message by what left', async () => {
  const mailEvents = {
    ses: 'arn:aws:sns:eu-central-1:123456789012:mail',
    postmark: 'accounts:a-password-of-sixteen',
    mailgun: 'a-signing-key-of-mailgun',
    sendgrid: generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .publicKey.export({ format: 'der', type: 'spki' })
      .toString('base64'),
    resend: `whsec_${Buffer.from('a secret of resend, long enough').toString('base64')}`,
  }
  const { mailer, sent } = await givenWire({ mailEvents })
  expect(await mailer.send(letter(verification()))).toBe('accepted')
  const { id } = letter(verification())
  const lines = sent().split('\r\n')
  for (const line of [
    `X-Ses-Message-Tags: delivery=${id}`,
    `X-Mailgun-Variables: {"delivery":"${id}"}`,
    `X-Smtpapi: {"unique_args":{"delivery":"${id}"}}`,
    `X-Entity-Ref-Id: ${id}`,
  ])
    expect(lines.map((text) => text.toLowerCase())).toContain(line.toLowerCase())
  const [, name = '', value] = /^X-PM-Metadata-(.*): (.*)$/im.exec(sent().replaceAll('\r', '')) ?? []
  const { postmark } = createMailEvents({ ...settings, mailEvents })
  const headers = new Headers({
    'Content-Type': 'application/json',
    Authorization: `Basic ${Buffer.from(mailEvents.postmark).toString('base64')}`,
  })
  const event = { RecordType: 'Bounce', Type: 'HardBounce', Email: 'ada@b.test', Metadata: { [name]: value } }
  const read = await postmark?.read({ headers, body: Buffer.from(JSON.stringify(event)) }, new Date())
  expect(read).toMatchObject([{ message: { id }, addresses: ['ada@b.test'] }])
})

test.each([
  'ada@b.test, victim@b.test',
  'ada@b.test;victim@b.test',
  'ada@b.test\r\nBcc: victim@b.test',
  'ada@b.test>\r\nRCPT TO:<victim@b.test',
  '"ada@b.test, victim@b.test" <x@b.test>',
])('B12 B14 B16 a recipient with header or list syntax reaches nobody else: %j', async (to) => {
  const { mailer, deliveries, commands } = await givenMailServer()
  await mailer.send(letter(verification(), to))
  expect(commands.filter((command) => command === 'RCPT victim@b.test')).toEqual([])
  expect(commands.length).toBeLessThanOrEqual(1)
  for (const delivery of deliveries) expect(headersNamed(delivery, 'bcc')).toEqual([])
})

test.each([
  ['an image', '<img src=x onerror=alert(1)>'],
  ['a script', '</p><script>alert(1)</script>'],
  ['a template', '{{7*7}} <%= 7*7 %> #{7*7}'],
  ['a style', '</style><style>p{display: none}'],
  ['an attribute', '" onmouseover="alert(1)'],
  ['a link, which no letter shows', '<a href=//evil.test>click</a>', false],
  ['a header, which no letter shows', 'Ada\r\nBcc: victim@b.test\r\n\r\nHello', false],
])('B17 a user name that is %s is at most text in both parts', async (_, userName, isShown = true) => {
  const { mailer, deliveries } = await givenMailServer()
  expect(await mailer.send(letter(verification({ userName })))).toBe('accepted')
  const delivery = only(deliveries)
  const { html = '', text = '', subject } = delivery.mail
  expect(subject).toBe('Verify Your New Email Address')
  expect(delivery.recipients).toEqual(['ada@b.test'])
  expect(headersNamed(delivery, 'bcc')).toEqual([])
  expect(html).not.toMatch(/<script|<img|<b>|<a href=\/\/|<a [^>]*evil|onmouseover="|<style>p|\b49\b(?!;|,)/)
  const ours = [LINK, 'mailto:support@accounts.test']
  expect(linksOf(html).filter((href) => !ours.includes(href ?? ''))).toEqual([])
  const seen = userName.replace(/\s+/g, ' ')
  expect(text.replace(/\s+/g, ' ').includes(seen)).toBe(isShown)
  expect(linksOf(html).filter((href) => href === LINK).length).toBeGreaterThan(0)
})

test('a user name of ten kilobytes does not push the code out of sight', async () => {
  const { mailer, deliveries } = await givenMailServer()
  expect(await mailer.send(letter(verification({ userName: '😀 '.repeat(3_400) })))).toBe('accepted')
  const { text = '', html = '' } = only(deliveries).mail
  expect(text.indexOf(CODE)).toBeLessThan(2_000)
  expect(html.length).toBeLessThan(20_000)
  expect(text.isWellFormed()).toBe(true)
})

const refusing = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code })

type Stage = 'connection' | 'sign-in' | 'sender' | 'recipient' | 'message'
const refusingAt = (stage: Stage, code: number, text: string): SMTPServerOptions => {
  const refusal = refusing(code, text)
  switch (stage) {
    case 'connection':
      return { onConnect: (_, callback) => callback(refusal) }
    case 'sign-in':
      return { authOptional: false, disabledCommands: ['STARTTLS'], onAuth: (_, __, callback) => callback(refusal) }
    case 'sender':
      return { onMailFrom: (_, __, callback) => callback(refusal) }
    case 'recipient':
      return { onRcptTo: (_, __, callback) => callback(refusal) }
    case 'message':
      return { onData: (stream, _, callback) => void stream.on('end', () => callback(refusal)).resume() }
  }
}

test.each<[Stage, number, string, 'refused' | 'deferred']>([
  // Permanent: the server will never accept this message for this recipient.
  ['recipient', 550, 'no such user', 'refused'],
  ['recipient', 550, '5.2.1 mailbox disabled', 'refused'],
  ['recipient', 551, 'user not local', 'refused'],
  ['recipient', 553, 'mailbox name not allowed', 'refused'],
  ['recipient', 554, '5.1.1 no such user', 'refused'],
  ['recipient', 556, '5.1.10 the domain takes no mail', 'refused'],
  ['message', 550, 'not wanted', 'refused'],
  ['message', 552, '5.3.4 too large', 'refused'],
  ['message', 552, 'too large', 'refused'],
  ['message', 554, 'not wanted', 'refused'],
  ['message', 554, '5.7.1 looks like spam', 'refused'],
  // Temporary, or caused by a setting that would affect every message.
  ['connection', 421, 'try later', 'deferred'],
  ['connection', 554, 'your address is blocked', 'deferred'],
  ['sign-in', 535, '5.7.8 wrong password', 'deferred'],
  ['sender', 550, 'no such sender', 'deferred'],
  ['sender', 553, '5.1.8 bad sender', 'deferred'],
  ['recipient', 450, 'greylisted', 'deferred'],
  ['recipient', 452, '4.2.2 mailbox full', 'deferred'],
  ['recipient', 530, '5.7.0 sign in first', 'deferred'],
  ['recipient', 550, '5.1.8 bad sender', 'deferred'],
  ['recipient', 550, '5.3.0 out of order', 'deferred'],
  ['recipient', 550, '5.7.1 your address is blocked', 'deferred'],
  ['recipient', 554, '5.7.1 relay access denied', 'deferred'],
  ['recipient', 503, 'bad sequence', 'deferred'],
  ['message', 451, 'local error', 'deferred'],
  ['message', 550, '5.7.26 not authenticated', 'deferred'],
  ['message', 554, '5.3.0 out of order', 'deferred'],
])('at the %s the reply %i %s means: %s', async (stage, code, text, outcome) => {
  const { deliveries, port } = await givenMailServer(refusingAt(stage, code, `${text} ada@b.test ${CODE}`))
  const user = stage === 'sign-in' ? 'user:password@' : ''
  const mailer = createMailer({ ...settings, smtpUrl: `smtp://${user}127.0.0.1:${port}` }, secrets)
  const lines = logged()
  expect(await mailer.send(letter(verification()))).toBe(outcome)
  expect(deliveries).toEqual([])
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event: `mail_${outcome}`, responseCode: code }])
  expect(lines.join()).not.toMatch(/ada@b\.test|042137|Lovelace/)
})

test('where TLS is needed, a mail server without it receives neither the password nor a message', async () => {
  const signIns: unknown[] = []
  const { deliveries, commands, port } = await givenMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username }, _session, callback) {
      signIns.push(username)
      callback(null, { user: username })
    },
  })
  const smtpUrl = `smtp://user:password@127.0.0.1:${port}`
  const needing = (smtpNeedsTls: boolean) => createMailer({ ...settings, smtpUrl, smtpNeedsTls }, secrets)
  expect(await needing(true).send(letter(verification()))).toBe('deferred')
  await expect(checkMailServer(smtpUrl, true, 5_000)).rejects.toMatchObject({ code: 'ETLS' })
  expect([signIns, commands, deliveries]).toEqual([[], [], []])
  expect(await needing(false).send(letter(verification()))).toBe('accepted')
  expect(signIns).toEqual(['user'])
})

test('messages are counted by outcome', async () => {
  const count = async (result: string) =>
    (await metrics().mails.get()).values.find(
      ({ labels }) => labels.template === 'verify-new-email' && labels.result === result,
    )?.value ?? 0
  const before = [await count('accepted'), await count('deferred'), await count('refused')]
  const replies = [550, 450, 550]
  const { mailer } = await givenMailServer({
    onRcptTo: (_, __, callback) => {
      const code = replies.shift()
      callback(code ? refusing(code, 'no') : undefined)
    },
  })
  for (let n = 0; n < 4; n++) await mailer.send(letter(verification()))
  const after = [await count('accepted'), await count('deferred'), await count('refused')]
  expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1, 2])
})

test('a sent message leaves one log line, without address, name, code or link', async () => {
  const { mailer } = await givenMailServer()
  const lines = logged()
  await mailer.send(letter(verification()))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'mail_accepted', template: 'verify-new-email', messageId: 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA' },
  ])
  expect(lines.join()).not.toMatch(/ada@b\.test|042137|Lovelace|verify-email#/)
})

test('twenty messages at once all arrive, each with its own recipient and code', async () => {
  const { mailer, deliveries } = await givenMailServer()
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const sent = await Promise.all(
    numbers.map((n) => mailer.send(letter(verification({ code: String(100_000 + n) }), `u${n}@b.test`))),
  )
  expect(sent).toEqual(numbers.map(() => 'accepted'))
  const pairs = deliveries.map(({ recipients, mail }) => [recipients.join(), /1000\d\d/.exec(mail.text ?? '')?.[0]])
  expect(pairs.sort()).toEqual(numbers.map((n) => [`u${n}@b.test`, String(100_000 + n)]).sort())
})

test('when nothing listens, or the server hangs up or speaks another protocol, the message is deferred', async () => {
  const nothing = createMailer({ ...settings, smtpUrl: 'smtp://127.0.0.1:1' }, secrets)
  const hangsUp = await givenRawServer((socket) => socket.destroy())
  const speaksHttp = await givenRawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const outcomes = [nothing, hangsUp, speaksHttp].map((mailer) => mailer.send(letter(verification())))
  expect(await Promise.all(outcomes)).toEqual(['deferred', 'deferred', 'deferred'])
})

test('however a mail server stalls, send ends within fourteen seconds, and messages are accepted once the server recovers', async () => {
  const silent = await givenRawServer(() => {})
  let stalls = true
  const stallsInData = await givenMailServer({
    onData: (stream, _session, callback) => void stream.resume().on('end', () => stalls || callback()),
  })
  const dripped: Socket[] = []
  const dripping = await givenRawServer((socket) => {
    dripped.push(socket)
    socket.resume().write('220 mail.test\r\n')
    // A byte a second keeps every timer of the connection from running out.
    const timer = setInterval(() => socket.write('2'), 1_000)
    socket.on('close', () => clearInterval(timer))
  })
  // More messages than connections to one server.
  const dozen = Array.from({ length: 12 }, () => stallsInData.mailer)
  const send = (mailers: (typeof silent)[]) => Promise.all(mailers.map((mailer) => mailer.send(letter(verification()))))
  const startedAt = performance.now()
  expect(new Set(await send([silent, dripping, ...dozen]))).toEqual(new Set(['deferred']))
  expect(performance.now() - startedAt).toBeLessThan(14_000)
  // A connection that nobody waits for is closed.
  await expect.poll(() => dripped.map(({ destroyed }) => destroyed)).toEqual([true])
  stalls = false
  expect(new Set(await send(dozen))).toEqual(new Set(['accepted']))
}, 40_000)
