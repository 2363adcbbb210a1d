import { beforeEach, expect, test } from 'vitest'
import { givenPendingChange, type PendingTestChange } from '@/testing/account'
import { asUser, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { heldUp, outcomeOf, placesTaken } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { pseudonymousBucket, takePlaces } from '../limits/buckets'
import { hour, minute } from '../limits/durations'
import type { Mail } from '../ports'
import type { Sql } from '../sql'
import { resendVerification } from './resend-verification'

const mailsCounted = () => placesTaken(ctx, pseudonymousBucket(ctx, 'targetMail', change.new_email))

let ctx: TestContext
let user: TestUser
let change: PendingTestChange
let input: { userId: string; change_request_id: string }

const resend = async (more: Partial<Parameters<typeof resendVerification>[1]> = {}) =>
  resendVerification(await asUser(ctx, user), { ...input, ...more })
const request = () => ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id: input.change_request_id } })

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
  change = await givenPendingChange(ctx, user)
  input = { userId: user.userId, change_request_id: change.change_request_id }
})

test('during the cooldown the answer says how long to wait, to the millisecond', async () => {
  ctx.clock.advance(5 * minute - 1)
  const caller = await asUser(ctx, user)
  await expect(resendVerification(caller, input)).rejects.toMatchObject({ code: 'EMAIL_008', retryAfterSeconds: 1 })
  expect(caller.buckets).toEqual([
    {
      name: 'resend',
      places: 1,
      windowMs: 5 * minute,
      remaining: 0,
      resetsAt: new Date(ctx.clock.now().getTime() + 1),
    },
  ])
  expect(await mailsCounted()).toBe(1)
  ctx.clock.advance(1)
  expect(await outcomeOf(resend())).toBe('accepted')
})

test('a resent message has a new code, a new id and the remaining time', async () => {
  const before = await request()
  ctx.clock.advance(5 * minute)
  const caller = await asUser(ctx, user)
  expect(await resendVerification(caller, input)).toEqual({
    verification_sent: true,
    method: 'email_code',
    expires_at: '2026-11-20T21:05:00.000Z',
    resend_available_at: '2026-11-20T09:10:00.000Z',
  })
  expect(caller.buckets).toEqual([
    { name: 'resend', places: 1, windowMs: 5 * minute, remaining: 0, resetsAt: new Date('2026-11-20T09:10:00.000Z') },
  ])
  expect(ctx.mailbox.at(-1)).toMatchObject({
    to: change.new_email,
    id: `${change.change_request_id}-${ctx.clock.now().getTime()}`,
    message: { template: 'verify-new-email', validMs: 12 * hour, firstMethod: 'email_code' },
  })
  const after = await request()
  expect(after).toMatchObject({
    sentAt: ctx.clock.now(),
    expiresAt: new Date('2026-11-20T21:05:00.000Z'),
    requestedAt: before.requestedAt,
  })
  expect(Buffer.from(after.codeMac).equals(before.codeMac)).toBe(false)
  expect(await mailsCounted()).toBe(2)
  const audited = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'email_change.resent' } })
  expect(audited).toMatchObject([
    { actor: 'session', subjectId: change.change_request_id, ip: '192.0.2.1', at: ctx.clock.now() },
  ])
})

test('a resend can ask for the other method, which then stays', async () => {
  ctx.clock.advance(5 * minute)
  expect(await resend({ verification_method: 'email_link' })).toMatchObject({
    method: 'email_link',
  })
  expect(ctx.mailbox.at(-1)).toMatchObject({ message: { firstMethod: 'email_link' } })
  expect((await request()).method).toBe('email_link')
  ctx.clock.advance(5 * minute)
  expect(await resend()).toMatchObject({ method: 'email_link' })
})

test('the message shows how long its code is valid, at most until the change ends a day after its request', async () => {
  const messages: unknown[] = []
  for (const wait of [11 * hour, 11 * hour, 90 * minute, 20 * minute, 9 * minute + 30_000]) {
    ctx.clock.advance(wait)
    await resend()
    messages.push(ctx.mailbox.at(-1)?.message)
  }
  expect(messages).toMatchObject([
    { validMs: 12 * hour },
    { validMs: 2 * hour },
    { validMs: 30 * minute },
    { validMs: 10 * minute },
    { validMs: 30_000 },
  ])
  ctx.clock.advance(30_000)
  expect(await outcomeOf(resend())).toBe('EMAIL_004')
})

test('a resend is refused once the address has got as many messages as allowed', async () => {
  ctx.limits.targetMail = { places: 2, windowMs: 24 * hour }
  const take = [pseudonymousBucket(ctx, 'targetMail', change.new_email)]
  await takePlaces(ctx, { take })
  ctx.clock.advance(5 * minute)
  const caller = await asUser(ctx, user)
  await expect(resendVerification(caller, input)).rejects.toMatchObject({
    code: 'EMAIL_008',
    retryAfterSeconds: 24 * 3_600 - 300,
  })
  expect(caller.buckets.map(({ name, remaining }) => [name, remaining])).toEqual([
    ['resend', 1],
    ['targetMail', 0],
  ])
  expect(ctx.mailbox.filter(({ to }) => to === change.new_email)).toHaveLength(1)
  expect((await request()).sentAt).toEqual(new Date('2026-11-20T09:00:00.000Z'))
})

test('during the cooldown the answer names the time at which the address has room too', async () => {
  ctx.limits.targetMail = { places: 2, windowMs: 24 * hour }
  ctx.clock.advance(minute)
  const tooEarly = (retryAfterSeconds: number) =>
    expect(resend()).rejects.toMatchObject({ code: 'EMAIL_008', retryAfterSeconds })
  await tooEarly(4 * 60)
  const take = [pseudonymousBucket(ctx, 'targetMail', change.new_email)]
  await takePlaces(ctx, { take })
  await tooEarly(24 * 3_600 - 60)
})

test('a resend that waits while the change is closed is refused for that reason and sends nothing', async () => {
  ctx.clock.advance(5 * minute)
  const caller = await asUser(ctx, user)
  const close = (sql: Sql) =>
    rawSql(sql, `UPDATE email_change_requests SET status = 'cancelled' WHERE id = $1`, [input.change_request_id])
  const refusal = () => outcomeOf(resendVerification(caller, input))
  expect(await heldUp(ctx, ['email_change_requests', input.change_request_id], refusal, close)).toBe('EMAIL_006')
  expect(ctx.mailbox.filter(({ to }) => to === change.new_email)).toHaveLength(1)
  expect(await mailsCounted()).toBe(1)
})

test('a change that is closed during sending stays closed, and the message counts', async () => {
  ctx.clock.advance(5 * minute)
  ctx.mail.send = async () => {
    await ctx.db.emailChangeRequest.update({ where: { id: input.change_request_id }, data: { status: 'cancelled' } })
    return 'accepted'
  }
  expect(await outcomeOf(resend())).toBe('EMAIL_006')
  expect(await request()).toMatchObject({
    status: 'cancelled',
    sentAt: ctx.clock.now(),
    expiresAt: new Date('2026-11-20T21:00:00.000Z'),
  })
  expect(await mailsCounted()).toBe(2)
})

test.each<[string, Mail['send'], string]>([
  ['takes nothing for now', async () => 'deferred', 'EMAIL_009'],
  ['refuses for good', async () => 'refused', 'EMAIL_009'],
  ['fails', () => Promise.reject(new RangeError('lost')), 'RangeError: lost'],
])('when the mail server %s, cooldown, place and code stay as before', async (_, send, refusal) => {
  const before = await request()
  ctx.clock.advance(5 * minute)
  ctx.mail.send = send
  const outcome = await resend().catch((error) => error)
  expect(outcome.code ?? String(outcome)).toBe(refusal)
  if (refusal === 'EMAIL_009') expect(outcome.retryAfterSeconds).toBe(60)
  expect(await request()).toEqual(before)
  expect(await mailsCounted()).toBe(1)
})

test('an invalid stored address is answered as a fault of the service', async () => {
  ctx.clock.advance(5 * minute)
  await ctx.db.emailChangeRequest.update({ where: { id: input.change_request_id }, data: { newEmail: 'no address' } })
  const before = await request()
  await expect(resend()).rejects.toThrow('a stored address does not parse')
  expect(await request()).toEqual(before)
  expect(await mailsCounted()).toBe(1)
})
