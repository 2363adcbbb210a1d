import { expect, test } from 'vitest'
import { deliveryId } from '@/domain/mail/mail-deliveries'
import { givenCaller, givenChange, readAnswer } from '@/testing/api-calls'
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

async function givenReceiver() {
  const ctx = await givenService()
  const settings = { mailEvents: { dsn: SECRET }, mailReturnPath: undefined, appUrl: ctx.appUrl }
  ctx.mailEvents = createMailEvents(settings)
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

test('a source that is not switched on does not exist, and one that is needs its secret, a media type and 256 KiB at most', async () => {
  await givenReceiver()
  for (const source of ['unknown', 'ses']) expect((await post(source, 'x')).code).toBe('REQUEST_005')
  expect((await post('dsn', 'x', { token: 'a-secret-of-nobody-else' })).code).toBe('AUTH_001')
  expect((await post('dsn', 'x', { type: 'image/png' })).code).toBe('REQUEST_003')
  expect((await post('dsn', new Uint8Array(256 * 1024))).code).toBe('accepted')
  expect((await post('dsn', new Uint8Array(256 * 1024 + 1))).code).toBe('REQUEST_002')
})
