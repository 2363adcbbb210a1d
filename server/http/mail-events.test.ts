import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import type { MailSource } from '@/contract/vocabulary'
import { deliveryId } from '@/domain/mail/mail-deliveries'
import { readAnswer } from '@/testing/api-calls'
import { givenCaller, givenChange } from '@/testing/callers'
import { listening } from '@/testing/listening'
import { givenService } from '@/testing/service'
import { createMailEvents } from '../adapters/mail-events/sources'
import { api } from './api'

const SECRET = 'secret-of-the-mail-server'

/** A delivery status notification as small as one can be, which quotes the Message-ID of what came back. */
const bounceOf = (
  messageId: string,
  to: string,
) => `Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

Final-Recipient: rfc822;${to}
Action: failed
Status: 5.1.1

--b
Content-Type: text/rfc822-headers

Message-ID: <${messageId}@accounts.test>
--b--
`

async function givenReceiver(mailEvents: Partial<Record<MailSource, string>> = { dsn: SECRET }) {
  const ctx = await givenService()
  ctx.mailEvents = createMailEvents({ mailEvents, mailReturnPath: undefined, appUrl: ctx.appUrl })
  return ctx
}

const post = async (source: string, body: BodyInit | null, { token = SECRET, type = 'message/rfc822' } = {}) =>
  readAnswer(
    await api(
      new Request(`http://localhost/api/v1/mail-events/${source}`, {
        method: 'POST',
        headers: { 'Content-Type': type, Authorization: `Bearer ${token}` },
        body,
      }),
      '192.0.2.1',
    ),
  )

test('a bounce that the mail server hands on shows in the status of the change, and one that only its id was needed for does not', async () => {
  const ctx = await givenReceiver()
  const caller = await givenCaller(ctx)
  const { id, newEmail } = await givenChange(ctx, caller)
  const deliveryAfter = async (messageId: string) => {
    expect(await post('dsn', bounceOf(messageId, newEmail))).toMatchObject({ status: 200, data: { accepted: true } })
    return (await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id } })).delivery
  }
  expect(await deliveryAfter(id)).toBe('sent')
  expect(await deliveryAfter(deliveryId(ctx.secrets, id))).toBe('undeliverable')
})

test('a source that is not switched on does not exist, and one that is needs its secret, its own media type and 64 KiB at most', async () => {
  await givenReceiver()
  for (const source of ['unknown', 'ses']) expect((await post(source, 'x')).code).toBe('REQUEST_005')
  expect((await post('dsn', 'x', { token: 'a-secret-of-nobody-else' })).code).toBe('AUTH_001')
  for (const type of ['image/png', 'application/json', 'text/plain', 'constructor']) {
    expect((await post('dsn', 'x', { type })).code).toBe('REQUEST_003')
  }
  expect((await post('dsn', new Uint8Array(64 * 1024))).code).toBe('accepted')
  expect((await post('dsn', new Uint8Array(64 * 1024 + 1))).code).toBe('REQUEST_002')
})

test('a provider may send 256 KiB', async () => {
  await givenReceiver({ postmark: 'accounts:a-password-of-sixteen' })
  const type = 'application/json'
  expect((await post('postmark', new Uint8Array(256 * 1024), { type })).code).toBe('AUTH_001')
  expect((await post('postmark', new Uint8Array(256 * 1024 + 1), { type })).code).toBe('REQUEST_002')
})

test('a report about an unknown message is asked for again while it says that it is new, and without a time it is not', async () => {
  const { clock } = await givenReceiver()
  const now = clock.now().getTime()
  const bounce = bounceOf('f'.repeat(40), 'ada@example.test')
  const dated = (date: Date) => `Date: ${date.toUTCString()}\n${bounce}`
  expect(await post('dsn', bounce)).toMatchObject({ status: 200 })
  expect(await post('dsn', dated(new Date(now - 10 * 60_000)))).toMatchObject({ status: 200 })
  expect(await post('dsn', dated(new Date(now)))).toMatchObject({ status: 503, code: 'SERVER_002' })
})

/** The command of docs/operations.md that hands a bounce on; 75 has the mail server try again. */
async function runDocumentedPipe(url: string) {
  const docs = readFileSync('docs/operations.md', 'utf8')
  const [, command = ''] = /argv=\/bin\/sh -c \{([\s\S]*?)\}\s*```/.exec(docs) ?? []
  const here = command
    .replaceAll(/\n +/g, ' ')
    .replace(/https:\S+\/dsn/, url)
    .replace('@/etc/postfix/bounce-header', 'A:b')
  expect(here).toContain(url)
  const shell = spawn('/bin/sh', ['-c', here], { stdio: ['pipe', 'inherit', 'inherit'] })
  shell.stdin.end(bounceOf('f'.repeat(40), 'ada@example.test'))
  const [code] = await once(shell, 'exit')
  return code
}

test.skipIf(spawnSync('curl', ['--version']).error)(
  'B69 the documented pipe has a bounce sent again after 5xx and where nobody answers, and after nothing else',
  async () => {
    let status = 200
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end('{}'))
    })
    const url = `http://127.0.0.1:${await listening(server)}/dsn`
    const codes: [status: number, exitCode: number][] = []
    for (status of [200, 401, 404, 413, 415, 429, 500, 503]) codes.push([status, await runDocumentedPipe(url)])
    expect(codes).toEqual([
      [200, 0],
      [401, 0],
      [404, 0],
      [413, 0],
      [415, 0],
      [429, 0],
      [500, 75],
      [503, 75],
    ])
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    expect(await runDocumentedPipe(url)).toBe(75)
  },
)
