import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  asToken,
  changeInput,
  codeSentTo,
  givenPendingChange,
  type PendingTestChange,
  signInAs,
  verifyChange as verify,
  wrongCode,
} from '@/testing/account'
import { asUser, givenSession, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { anotherInstance } from '@/testing/install-context'
import { outcomeOf, placesTaken, untilWaiting } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { atStatement } from '@/testing/statements'
import { hour, minute } from '../limits/durations'
import type { MailOutcome } from '../ports'
import { signOut } from '../sessions/sign-ins'
import { previewWithdrawal } from '../withdrawal/preview-withdrawal'
import { cancelEmailChange } from './cancel-email-change'
import { changeEmail } from './change-email'
import { getEmailStatus } from './get-email-status'
import { resendVerification } from './resend-verification'
import { verifyEmail } from './verify-email'

const requestOf = (ctx: TestContext, { change_request_id: id }: PendingTestChange) =>
  ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id } })

let ctx: TestContext
let user: TestUser
let pending: PendingTestChange

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
  pending = await givenPendingChange(ctx, user)
})

test('F8 another instance shows a pending change, and the new address right after its verification', async () => {
  const other = await anotherInstance(ctx)
  const shown = async () => getEmailStatus(await asUser(other, user))
  const { change_request_id } = pending
  expect((await shown()).pending_change).toMatchObject({ change_request_id })
  await verify(ctx, user, pending)
  expect(await shown()).toMatchObject({ current_email: `new-${user.email}`, email_verified: true })
})

test('each wrong code leaves the request open and shows the attempts left, and the fifth can be the right one', async () => {
  const details: string[] = []
  for (let n = 0; n < 4; n++) {
    details.push(await verify(ctx, user, pending, wrongCode(pending.code)).catch((error) => error.details))
  }
  expect(details).toEqual([
    'The code is wrong. 4 attempts left.',
    'The code is wrong. 3 attempts left.',
    'The code is wrong. 2 attempts left.',
    'The code is wrong. 1 attempt left.',
  ])
  expect(await requestOf(ctx, pending)).toMatchObject({ attempts: 4, closedAt: null, closedIp: null })
  expect(await outcomeOf(verify(ctx, user, pending))).toBe('accepted')
})

test('B6 L3 of 50 parallel right codes one changes the address', async () => {
  ctx.limits.verify = { places: 1000, windowMs: hour }
  const caller = await asUser(ctx, user)
  const input = { userId: user.userId, change_request_id: pending.change_request_id, verification_code: pending.code }
  const refusals = await Promise.all(Array.from({ length: 50 }, () => outcomeOf(verifyEmail(caller, input))))
  expect(refusals.filter((code) => code === 'accepted')).toHaveLength(1)
  expect(await ctx.db.auditEvent.count({ where: { userId: user.userId, action: 'email.changed' } })).toBe(1)
  expect(await outcomeOf(verify(ctx, user, pending))).toBe('EMAIL_006')
})

test('a code expires at twelve hours, to the millisecond', async () => {
  ctx.clock.advance(12 * hour - 1)
  expect((await getEmailStatus(await asUser(ctx, user))).pending_change.has_pending).toBe(true)
  ctx.clock.advance(1)
  expect((await getEmailStatus(await asUser(ctx, user))).pending_change).toMatchObject({
    has_pending: false,
    expires_at: null,
  })
  expect(await outcomeOf(verify(ctx, user, pending))).toBe('EMAIL_004')
})

test('a superseded and a cancelled request get the same answer', async () => {
  const second = await givenPendingChange(ctx, user, `second-${user.email}`)
  expect(await outcomeOf(verify(ctx, user, pending))).toBe('EMAIL_006')
  await cancelEmailChange(await asUser(ctx, user), { userId: user.userId, changeRequestId: second.change_request_id })
  expect(await outcomeOf(verify(ctx, user, second))).toBe('EMAIL_006')
})

test('B73 the session that asked stays when another one verifies, and all others end', async () => {
  const elsewhere = { ...user, sessionId: await givenSession(ctx, user.userId) }
  const third = { ...user, sessionId: await givenSession(ctx, user.userId) }
  const again = await givenPendingChange(ctx, user, `second-${user.email}`)
  await verify(ctx, elsewhere, again)
  for (const staying of [user, elsewhere]) expect((await asUser(ctx, staying)).actor.userId).toBe(user.userId)
  await expect(asUser(ctx, third)).rejects.toThrow('the session has ended')
})

test('B73 a session that asks while the change of another one is pending does not stay by that, nor does the other by asking again', async () => {
  const thief = await givenSession(ctx, user.userId)
  const phone = { ...user, sessionId: await givenSession(ctx, user.userId) }
  await givenPendingChange(ctx, { ...user, sessionId: thief })
  await verify(ctx, phone, await givenPendingChange(ctx, user))
  for (const sessionId of [thief, user.sessionId])
    await expect(asUser(ctx, { ...user, sessionId })).rejects.toThrow('the session has ended')
})

test('B73 a browser that signs in anew while its change is pending stays too, unless its session had been ended', async () => {
  const phone = { ...user, sessionId: await givenSession(ctx, user.userId) }
  const again = async (replaces: string, email = user.email) =>
    String((await signInAs(ctx, { ...user, email }, { replaces }))?.sessionId)
  const laptop = { ...user, sessionId: await again(user.sessionId) }
  await verify(ctx, phone, pending)
  expect((await asUser(ctx, laptop)).actor.user.email).toBe(pending.new_email)

  const change = await givenPendingChange(ctx, laptop, `second-${user.email}`)
  await signOut(ctx, laptop.sessionId)
  const revived = { ...user, sessionId: await again(laptop.sessionId, pending.new_email) }
  await verify(ctx, phone, change)
  await expect(asUser(ctx, revived)).rejects.toThrow('the session has ended')
})

test('B73 a session that had ended before stays ended, and a change that a token asked for keeps none but the verifying one', async () => {
  const phone = { ...user, sessionId: await givenSession(ctx, user.userId) }
  await signOut(ctx, user.sessionId)
  await verify(ctx, phone, pending)
  await expect(asUser(ctx, user)).rejects.toThrow('the session has ended')

  const laptop = { ...user, sessionId: await givenSession(ctx, user.userId) }
  const newEmail = `token-${user.email}`
  const { change_request_id } = await changeEmail(
    await asToken(ctx, user.userId, ['email:manage']),
    changeInput(user, newEmail),
  )
  await verify(ctx, phone, { change_request_id, code: codeSentTo(ctx, newEmail) })
  await expect(asUser(ctx, laptop)).rejects.toThrow('the session has ended')
  expect((await asUser(ctx, phone)).actor.user.email).toBe(newEmail)
})

test('B20 a verification changes the address, tells both mailboxes, and is recorded with time, place and caller', async () => {
  await ctx.db.user.update({ where: { id: user.userId }, data: { emailVerifiedAt: new Date(0) } })
  ctx.clock.advance(hour)
  const at = ctx.clock.now()
  expect(await verify(ctx, user, pending)).toEqual({
    email_verified: true,
    new_email: pending.new_email,
    changed_at: at.toISOString(),
    notification_sent: true,
  })
  await ctx.settle()
  expect(await requestOf(ctx, pending)).toMatchObject({
    status: 'verified',
    attempts: 1,
    closedAt: at,
    closedIp: '192.0.2.1',
  })
  expect(await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })).toMatchObject({
    email: pending.new_email,
    emailKey: pending.new_email,
    emailVerifiedAt: at,
  })
  const audited = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'email.changed' } })
  expect(audited).toMatchObject([{ actor: 'session', subjectId: pending.change_request_id, ip: '192.0.2.1', at }])
  const notices = await ctx.db.notice.findMany({ where: { userId: user.userId, kind: 'email_changed' } })
  const idOf = (recipient: string) => notices.find((notice) => notice.recipient === recipient)?.id
  for (const { id, sentAt } of notices) expect([id, sentAt]).toEqual([expect.stringMatching(/^ntc_.{22}$/), at])
  const letters = ctx.mailbox.filter(({ message }) => message.template === 'email-changed')
  expect(letters.map(({ id, to }) => [id, to])).toEqual([
    [idOf('old'), user.email],
    [idOf('new'), pending.new_email],
  ])
  expect(letters[1]?.message).toEqual({
    template: 'email-changed',
    userName: 'Ada Lovelace',
    hasPassword: true,
    oldEmail: user.email,
    newEmail: pending.new_email,
    changedAt: at,
    ipAddress: '192.0.2.1',
    userAgent: 'test',
    notMe: null,
  })
  expect(letters[0]?.message).toMatchObject({ ...letters[1]?.message, notMe: { until: expect.any(Date) } })
  const status = await getEmailStatus(await asUser(ctx, user))
  expect(status).toMatchObject({ current_email: pending.new_email, email_verified: true })
  expect(status.pending_change).toMatchObject({ has_pending: false, new_email: null })
})

test('a call that cannot succeed counts as a call, and not as an attempt', async () => {
  expect(await outcomeOf(verify(ctx, user, pending, ''))).toBe('EMAIL_003')
  expect(await outcomeOf(verify(ctx, user, { ...pending, change_request_id: 'ecr_other' }))).toBe('EMAIL_006')
  expect(await outcomeOf(verify(ctx, user, { ...pending, change_request_id: 'ecr_other' }, ''))).toBe('EMAIL_006')
  expect(await placesTaken(ctx, { key: `verify:${user.userId}` })).toBe(3)
  expect((await requestOf(ctx, pending)).attempts).toBe(0)
  ctx.clock.advance(12 * hour)
  expect(await outcomeOf(verify(ctx, user, pending))).toBe('EMAIL_004')
  expect((await requestOf(ctx, pending)).attempts).toBe(0)
})

test('B73 a verification by an access token keeps the session that asked, and ends every other', async () => {
  const elsewhere = { ...user, sessionId: await givenSession(ctx, user.userId) }
  const input = { userId: user.userId, change_request_id: pending.change_request_id, verification_code: pending.code }
  await verifyEmail(await asToken(ctx, user.userId, ['email:manage']), input)
  await expect(asUser(ctx, elsewhere)).rejects.toThrow('the session has ended')
  expect((await asUser(ctx, user)).actor.userId).toBe(user.userId)
  const audited = await ctx.db.auditEvent.findFirstOrThrow({ where: { userId: user.userId, action: 'email.changed' } })
  expect(audited).toMatchObject({ actor: 'access_token' })
})

test('B7 a verification gets EMAIL_002, and its attempt counts, when another writer stores the address at the same moment', async () => {
  const other = await givenUser(ctx)
  let outcome: Promise<string> | undefined
  await ctx.transact(async (sql) => {
    await rawSql(sql, 'UPDATE users SET email_key = $2 WHERE id = $1', [other.userId, pending.new_email])
    outcome = outcomeOf(verify(ctx, user, pending))
    await untilWaiting(ctx)
  })
  expect(await outcome).toBe('EMAIL_002')
  expect(await requestOf(ctx, pending)).toMatchObject({ status: 'pending_verification', attempts: 1 })
})

test('B3 a resend that comes between a right code and its effect waits, and replaces nothing', async () => {
  ctx.clock.advance(5 * minute)
  const input = { userId: user.userId, change_request_id: pending.change_request_id }
  const [sending, outcome] = [Promise.withResolvers<void>(), Promise.withResolvers<MailOutcome>()]
  ctx.mail.send = () => {
    sending.resolve()
    return outcome.promise
  }
  const resent = outcomeOf(resendVerification(await asUser(ctx, user), input))
  await sending.promise
  // It follows the judgement; the lock of the account is asked for in one go with it.
  const held = atStatement(await asUser(ctx, user), 'set-address', async (run) => {
    outcome.resolve('accepted')
    await untilWaiting(ctx)
    return run()
  })
  const verified = await verifyEmail(held, { ...input, verification_code: pending.code })
  expect([verified.email_verified, await resent]).toEqual([true, 'EMAIL_006'])
})

test('no other database error is reported as a taken address, and none counts an attempt', async () => {
  const caller = await asUser(ctx, user)
  const input = { userId: user.userId, change_request_id: pending.change_request_id, verification_code: pending.code }
  const failing = atStatement(caller, 'set-address', () => Promise.reject(new RangeError('lost')))
  await expect(verifyEmail(failing, input)).rejects.toThrow(RangeError)
  expect((await requestOf(ctx, pending)).attempts).toBe(0)
})

test('the answer waits at most five seconds for the mail server', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let isNotificationSent: unknown
  await new Promise<void>((sending) => {
    ctx.mail.send = () => new Promise(() => sending())
    void verify(ctx, user, pending).then((answer) => {
      isNotificationSent = answer.notification_sent
    })
  })
  await vi.advanceTimersByTimeAsync(4_999)
  expect(isNotificationSent).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(isNotificationSent).toBe(false)
})

test.each([
  ['old', 0],
  ['new', 1],
])('`notification_sent` is false when only the notice to the %s address failed', async (_, failing) => {
  const outcomes: MailOutcome[] = ['accepted', 'accepted']
  outcomes[failing] = 'deferred'
  ctx.mail.send = async () => outcomes.shift() ?? 'accepted'
  expect(await verify(ctx, user, pending)).toMatchObject({ notification_sent: false })
})

test('an unverified own address is verified by the same flow: it stays as the account writes it, no session ends, and nobody gets a notice', async () => {
  const user = await givenUser(ctx)
  ctx.mailbox.length = 0
  await ctx.db.user.update({ where: { id: user.userId }, data: { emailVerifiedAt: null } })
  const elsewhere = await givenSession(ctx, user.userId)
  const pending = await givenPendingChange(ctx, user, user.email.toUpperCase().replace('EXAMPLE.TEST', 'example.test'))
  expect(await verify(ctx, user, pending)).toMatchObject({
    email_verified: true,
    new_email: user.email,
    notification_sent: false,
  })
  await ctx.settle()
  expect(await previewWithdrawal(await asUser(ctx, user), { userId: user.userId })).toMatchObject({
    address_changed_at: null,
  })

  const status = await getEmailStatus(await asUser(ctx, { ...user, sessionId: elsewhere }))
  expect(status).toMatchObject({
    current_email: user.email,
    email_verified: true,
    verified_at: '2026-11-20T09:00:00.000Z',
  })
  expect(ctx.mailbox.map(({ message }) => message.template)).toEqual(['verify-new-email'])
  expect(await ctx.db.notice.count({ where: { userId: user.userId } })).toBe(0)
  expect(await ctx.db.auditEvent.count({ where: { userId: user.userId, action: 'email.verified' } })).toBe(1)
  // Once verified, the address counts as taken, even for its own account.
  await expect(givenPendingChange(ctx, user, user.email)).rejects.toMatchObject({ code: 'EMAIL_002' })
})
