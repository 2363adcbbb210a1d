import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { MailEvent } from '@/domain/ports'
import { createMailEvents } from './sources'

const SECRET = 'a secret of the mail server'.replaceAll(' ', '-')
const ID = '0123456789abcdef0123456789abcdef01234567'
const NOW = new Date('2026-11-20T09:00:00.000Z')

async function read(
  mail: string | Buffer,
  { returnPath, token = SECRET }: { returnPath?: string; token?: string } = {},
) {
  const { dsn } = createMailEvents({
    mailEvents: { dsn: SECRET },
    mailReturnPath: returnPath,
    appUrl: 'https://accounts.test',
  })
  const headers = new Headers({ Authorization: `Bearer ${token}`, 'Content-Type': 'message/rfc822' })
  return dsn?.read({ headers, body: Buffer.from(mail) }, NOW)
}

const STATUS = `Reporting-MTA: dns; mx.accounts.test
Arrival-Date: Fri, 20 Nov 2026 08:59:58 +0000

Final-Recipient: rfc822; ada.new@example.test
Original-Recipient: rfc822;ada.new@example.test
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 <ada.new@example.test>: user unknown`

const report = ({
  status = STATUS,
  type = 'multipart/report; report-type=delivery-status',
  to = 'no-reply@accounts.test',
} = {}) =>
  `From: MAILER-DAEMON@mx.accounts.test
To: ${to}
Date: Fri, 20 Nov 2026 08:59:59 +0000
MIME-Version: 1.0
Content-Type: ${type}; boundary="b"

--b
Content-Type: text/plain

I'm sorry to have to inform you.

--b
Content-Type: message/delivery-status

${status}

--b
Content-Type: message/rfc822

Message-ID:
 <${ID}@accounts.test>
Subject: Confirm your new address

Your code
--b--
`.replaceAll('\n', '\r\n')

const EVENT: MailEvent = {
  message: { deliveryId: ID },
  addresses: ['ada.new@example.test', 'ada.new@example.test'],
  state: 'undeliverable',
  isPermanent: true,
  at: new Date('2026-11-20T08:59:58.000Z'),
}

test('a bounce names the message that it quotes, the recipient and what became of it', async () => {
  expect(await read(report())).toEqual([EVENT])
  const delayed = report({ status: STATUS.replace('failed', 'delayed').replace('5.1.1', '4.4.1') })
  expect(await read(delayed)).toEqual([{ ...EVENT, state: 'deferred', isPermanent: false }])
  expect(await read(report({ status: STATUS.replace('failed', 'expanded') }))).toEqual([])
})

test('a charset that is wrong or that nobody knows hides nothing', async () => {
  for (const charset of ['x-nobody-knows', 'utf-16', 'shift_jis']) {
    const mail = report()
      .replaceAll(/Content-Type: (message|text)\/[\w-]+/g, `$&; charset=${charset}`)
      .replace("I'm sorry", 'D\u00e9sol\u00e9\udfff')
    expect(await read(Buffer.from(mail, 'latin1'))).toEqual([EVENT])
  }
})

test('with a return path the address that the bounce came to names the message, and nothing else does', async () => {
  const returnPath = 'bounce@mail.accounts.test'
  expect(await read(report(), { returnPath })).toEqual([])
  const to = `<Bounce+${ID.toUpperCase()}@MAIL.accounts.test>`
  expect(await read(report({ to }), { returnPath })).toEqual([{ ...EVENT, message: { deliveryId: ID } }])
  expect(await read(report({ to: `bounce+${ID}@elsewhere.test` }), { returnPath })).toEqual([])
})

const RECIPIENT = STATUS.slice(STATUS.indexOf('Final-Recipient'))

test.each([
  [
    'an address in Unicode as 7 bits',
    'Final-Recipient: utf-8; n@b\\x{FC}cher.example\nAction: failed\nStatus: 5.1.1',
    'n@bücher.example',
  ],
  ['an action with a comment', RECIPIENT.replace('failed', 'failed (permanent failure)')],
  ['a local type', RECIPIENT.replaceAll('rfc822', 'local')],
  ['an unknown type', RECIPIENT.replaceAll('rfc822', 'unknown')],
  ['no type', RECIPIENT.replaceAll(/rfc822; ?/g, '')],
  ['an address with a comment', RECIPIENT.replace('test\n', 'test (Ada)\n')],
  ['a source route', RECIPIENT.replace('rfc822; ', 'rfc822; <@relay.test:').replace('test\n', 'test>\n')],
  ['no block for the message', RECIPIENT],
  ['one block for the message and the recipient', `Reporting-MTA: dns; mx.accounts.test\n${RECIPIENT}`],
  [
    'xtext',
    'Original-Recipient: rfc822;ada.new+2Btag@example.test\nAction: failed\nStatus: 5.1.1',
    'ada.new+tag@example.test',
  ],
  ['a status after what the server was told', RECIPIENT.replace('Status: 5.1.1', 'Status: 5.0.0')],
])('B72 a bounce with %s is read', async (_what, status, address = 'ada.new@example.test') => {
  const [event, ...more] = (await read(report({ status }))) ?? []
  expect(more).toEqual([])
  expect(event).toMatchObject({ state: 'undeliverable', isPermanent: true })
  expect(event?.addresses).toContain(address)
})

test.each(['4.2.2', '5.2.2', '5.2.1', '5.7.1', '4.4.7', '5.0.0', '5', ''])(
  'B71 status %j is not permanent',
  async (status) => {
    const bounce = STATUS.replace('5.1.1\nDiagnostic', `${status}\nX-Diagnostic`)
    expect(await read(report({ status: bounce }))).toMatchObject([{ state: 'undeliverable', isPermanent: false }])
  },
)

test('a part in base64 or quoted-printable is read', async () => {
  const encoded = (encoding: string, status: string) =>
    report({ status }).replace('message/delivery-status\r\n', `$&Content-Transfer-Encoding: ${encoding}\r\n`)
  expect(await read(encoded('base64', Buffer.from(STATUS).toString('base64')))).toEqual([EVENT])
  expect(await read(encoded('Quoted-Printable', STATUS.replace('example', 'exa=\nm=70le')))).toEqual([EVENT])
})

test('the time is that of the message, or else that of the report, or none', async () => {
  const timeless = report().replace(/^Date: .*\r\n/m, '')
  expect(await read(timeless)).toEqual([EVENT])
  expect(await read(report().replace(/^Arrival-Date: .*\r\n/m, ''))).toEqual([
    { ...EVENT, at: new Date('2026-11-20T08:59:59.000Z') },
  ])
  expect(await read(timeless.replace(/^Arrival-Date: .*\r\n/m, ''))).toEqual([{ ...EVENT, at: null }])
})

test('B69 of many recipients the first twenty are read', async () => {
  const status = Array.from({ length: 500 }, (_, n) => RECIPIENT.replaceAll('ada.new', `n${n}`)).join('\n\n')
  const events = (await read(report({ status }))) ?? []
  expect(events.map(({ addresses }) => addresses[0])).toEqual(
    Array.from({ length: 20 }, (_, n) => `n${n}@example.test`),
  )
})

/** Made by `npm run lab -- bounces`, where the local part says why a message came back. `later` was put off, and then given up. */
const BOUNCES = ['postfix', 'exim', 'opensmtpd'].flatMap((system) => {
  const bounces = readFileSync(path.join(import.meta.dirname, `bounces/${system}.mbox`), 'utf8')
    .split(/^From bounce\n/m)
    .slice(1)
  const isFirst = (mail: string) => bounces.find((bounce) => bounce.includes('later@people.test')) === mail
  return bounces.map((mail) => {
    const [, to = ''] = /^Final-Recipient: rfc822; ?(\S+)$/m.exec(mail) ?? []
    return { system, mail, to, state: isFirst(mail) ? 'deferred' : 'undeliverable' }
  })
})

test('the bounces are of three mail servers, and eight of each', () => {
  expect(BOUNCES.map(({ system }) => system)).toEqual(
    ['postfix', 'exim', 'opensmtpd'].flatMap((system) => Array(8).fill(system)),
  )
})

test.each(BOUNCES)(
  'a bounce of $system to $to says $state, by its return path and by what it quotes',
  async (bounce) => {
    const [byPath, ...more] = (await read(bounce.mail, { returnPath: 'bounce@mail.accounts.test' })) ?? []
    const [byQuote] = (await read(bounce.mail)) ?? []
    expect(more).toEqual([])
    // OpenSMTPD tells no status but 5.0.0.
    const isSoft =
      bounce.state === 'deferred' || bounce.system === 'opensmtpd' || /^(full-at-end|later)@/.test(bounce.to)
    for (const event of [byPath, byQuote]) {
      expect(event).toMatchObject({ state: bounce.state, isPermanent: !isSoft, at: expect.any(Date) })
      expect(event?.addresses).toContain(bounce.to)
    }
    expect(byPath?.message).toEqual({ deliveryId: expect.stringMatching(/^[0-9a-f]{40}$/) })
    expect(byQuote?.message).toEqual(byPath?.message)
  },
)

test('a call without the secret of the mail server is refused', async () => {
  await expect(read(report(), { token: `${SECRET}x` })).rejects.toMatchObject({ code: 'AUTH_001' })
})

test.each([
  ['an ordinary message', 'Subject: hello\r\n\r\nhello'],
  ['nothing', ''],
  ['bytes that are no text', Buffer.from([0, 255, 254, 13, 10, 13, 10])],
  ['a bounce within another message', `Content-Type: message/rfc822\r\n\r\n${report()}`],
  [
    'a bounce that somebody forwards',
    `Content-Type: multipart/mixed; boundary="f"\r\n\r\n--f\r\nContent-Type: message/rfc822\r\n\r\n${report()}\r\n--f--\r\n`,
  ],
  ['a message of somebody else', report().replaceAll('@accounts.test>', '@elsewhere.test>')],
  ['parts within parts without end', deep(2000)],
  [
    'a bounce of the change, whose id everybody knows who asked for it',
    report().replace(ID, 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA'),
  ],
  ['an action that objects have by themselves', report({ status: STATUS.replace('failed', 'constructor') })],
  ['a status without a recipient', report({ status: 'Reporting-MTA: dns; mx' })],
  ['a status in a charset that nobody knows', report({ status: STATUS.replaceAll('a', '\u00e4') })],
])('%s says nothing', async (_name, mail) => {
  expect(await read(mail)).toEqual([])
})

/** An expression that looks at every character for every other one would read it for half a minute. */
const LONG = 240_000
const AT_PATH = `bounce+${ID}@mail.accounts.test`

test.each([
  ['a field', report({ to: AT_PATH, status: `${STATUS}\nRemote-MTA: a${' '.repeat(LONG)}b` }), 'undeliverable'],
  ['a recipient', report({ to: AT_PATH, status: `\n\nFinal-Recipient: rfc822;${'\v'.repeat(LONG)}<` }), undefined],
  ['the address that it came to', report({ to: 'a'.repeat(LONG) }), undefined],
])('%s without end cannot keep the service busy', { timeout: 5_000 }, async (_name, mail, state) => {
  const [event] = (await read(mail, { returnPath: 'bounce@mail.accounts.test' })) ?? []
  expect(event?.state).toBe(state)
})

function deep(levels: number) {
  const parts = Array.from(
    { length: levels },
    (_, n) => `Content-Type: multipart/report; report-type=delivery-status; boundary="b${n}"\r\n\r\n--b${n}\r\n`,
  )
  return parts.join('')
}
