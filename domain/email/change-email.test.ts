import { beforeEach, expect, test } from 'vitest'
import { ERRORS } from '@/contract/errors'
import { asToken, changeInput, givenPendingChange } from '@/testing/account'
import { asUser, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { heldUp, outcomeOf, placesTaken, tally } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { atStatement } from '@/testing/statements'
import { withdrawAs } from '@/testing/withdrawals'
import { setPassword } from '../accounts/user'
import { pseudonymousBucket, userBucket } from '../limits/buckets'
import { hour } from '../limits/durations'
import { changeEmail } from './change-email'
import { getEmailStatus } from './get-email-status'

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

const change = async (newEmail: string, password = user.password, on = ctx) =>
  changeEmail(await asUser(on, user), changeInput(user, newEmail, password))
const requestsOpened = () => ctx.db.emailChangeRequest.count({ where: { userId: user.userId } })

test('the message shows no longer validity than the change has', async () => {
  ctx.limits.changeLifetimeMs = hour / 10
  expect(await outcomeOf(change(`new-${user.email}`))).toBe('accepted')
  expect(ctx.mailbox[0]?.message).toMatchObject({ validMs: hour / 10 })
})

test('B3 L8 five of many concurrent wrong passwords are judged, and then the right one must wait too', async () => {
  const refusals = await Promise.all(Array.from({ length: 100 }, () => outcomeOf(change('x@example.test', 'wrong'))))
  expect(tally(refusals)).toEqual({ EMAIL_007: 5, EMAIL_008: 95 })
  expect(await outcomeOf(change('x@example.test'))).toBe('EMAIL_008')
  ctx.clock.advance(hour / 4)
  expect(await outcomeOf(change(`new-${user.email}`))).toBe('accepted')
})

test('L4 of 100 parallel changes exactly three are accepted, and one stays pending', async () => {
  const refusals = await Promise.all(Array.from({ length: 100 }, (_, n) => outcomeOf(change(`p${n}-${user.email}`))))
  expect(tally(refusals)).toEqual({ accepted: 3, EMAIL_008: 97 })
  const requests = await ctx.db.emailChangeRequest.findMany({ where: { userId: user.userId } })
  expect(tally(requests.map(({ status }) => status))).toEqual({ pending_verification: 1, superseded: 2 })
})

test("only the right password reveals that an address is taken, or one's own, five times an hour", async () => {
  const other = await givenUser(ctx)
  expect(await outcomeOf(change(other.email, 'wrong'))).toBe('EMAIL_007')
  const expectTaken = (address: string, details: string) =>
    expect(change(address)).rejects.toMatchObject({ code: 'EMAIL_002', details })
  await expectTaken(user.email, 'This is already your address.')
  expect(await allPlacesTaken(user.email)).toEqual({ ...untouched, password: 1, passwordDay: 1, taken: 1 })
  await expectTaken(user.email.toUpperCase(), 'This is already your address.')
  for (let probe = 0; probe < 3; probe++) await expectTaken(other.email.toUpperCase(), ERRORS.EMAIL_002.details)
  expect(await outcomeOf(change(`free-${user.email}`))).toBe('EMAIL_008')
  ctx.clock.advance(hour)
  expect(await outcomeOf(change(`free-${user.email}`))).toBe('accepted')
})

test('F9 when the mail server refuses, nothing is stored, no place is used, the older change stays, and the answer says to retry after a minute', async () => {
  const older = await givenPendingChange(ctx, user)
  ctx.mailServer.accepts = false
  const newEmail = `again-${user.email}`
  await expect(change(newEmail)).rejects.toMatchObject({ code: 'EMAIL_009', retryAfterSeconds: 60 })
  expect(await allPlacesTaken(newEmail)).toEqual({ ...untouched, change: 1 })
  expect((await getEmailStatus(await asUser(ctx, user))).pending_change.change_request_id).toBe(older.change_request_id)
})

/** The number of places of each kind that the user's calls have taken. */
async function allPlacesTaken(newEmail: string) {
  const counts: Record<string, number> = {}
  for (const name of ['change', 'password', 'passwordDay', 'taken'] as const) {
    counts[name] = await placesTaken(ctx, userBucket(ctx, name, user.userId))
  }
  for (const name of ['target', 'targetMail'] as const) {
    counts[name] = await placesTaken(ctx, pseudonymousBucket(ctx, name, newEmail))
  }
  return counts
}

const untouched = { change: 0, password: 0, passwordDay: 0, taken: 0, target: 0, targetMail: 0 }
const accepted = { ...untouched, change: 1, target: 1, targetMail: 1 }

test('an invalid address is refused before anything is counted', async () => {
  expect(await outcomeOf(change('ada@localhost', 'wrong'))).toBe('EMAIL_001')
  expect(await allPlacesTaken('ada@localhost')).toEqual(untouched)
})

test('a change of an account withdrawn meanwhile is refused without a password check', async () => {
  const caller = await asUser(ctx, user)
  await ctx.db.user.update({ where: { id: user.userId }, data: { withdrawnAt: ctx.clock.now(), emailKey: null } })
  expect(await outcomeOf(changeEmail(caller, changeInput(user, `new-${user.email}`)))).toBe('AUTH_001')
})

test('a request stores the times of request and message, the caller and the chosen method', async () => {
  const { send } = ctx.mail
  ctx.mail.send = (mail) => {
    ctx.clock.advance(2_000)
    return send(mail)
  }
  const requestedAt = ctx.clock.now()
  const newEmail = `New-${user.email}`
  const input = changeInput(user, newEmail)
  const caller = await asUser(ctx, user)
  const answer = await changeEmail(caller, { ...input, verification_method: 'email_link' })
  expect(answer).toEqual({
    change_request_id: expect.stringMatching(/^ecr_[A-Za-z0-9_-]{22}$/),
    status: 'pending_verification',
    new_email: newEmail,
    verification_method: 'email_link',
    verification_expires_at: '2026-11-20T21:00:02.000Z',
    current_email_retained: true,
  })
  expect(ctx.mailbox[0]).toMatchObject({
    to: newEmail,
    id: answer.change_request_id,
    message: { validMs: 12 * hour, firstMethod: 'email_link' },
  })
  expect(await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id: answer.change_request_id } })).toMatchObject({
    userId: user.userId,
    method: 'email_link',
    oldEmail: user.email,
    newEmail,
    newEmailKey: newEmail.toLowerCase(),
    attempts: 0,
    requestedAt,
    requestIp: '192.0.2.1',
    sentAt: new Date(requestedAt.getTime() + 2_000),
    expiresAt: new Date('2026-11-20T21:00:02.000Z'),
    closedAt: null,
  })
  const audited = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'email_change.requested' } })
  expect(audited).toEqual([
    {
      id: expect.stringMatching(/^aud_[A-Za-z0-9_-]{22}$/),
      userId: user.userId,
      action: 'email_change.requested',
      actor: 'session',
      actorId: null,
      requestedBy: null,
      subjectId: answer.change_request_id,
      ip: '192.0.2.1',
      at: new Date(requestedAt.getTime() + 2_000),
    },
  ])
  expect(await allPlacesTaken(newEmail.toLowerCase())).toEqual(accepted)
  await ctx.settle()
  expect(ctx.mailbox).toHaveLength(2)
  expect(ctx.mailbox[1]).toMatchObject({ to: user.email, id: expect.stringMatching(/^ntc_[A-Za-z0-9_-]{22}$/) })
  // It holds neither the code nor the whole new address.
  expect(ctx.mailbox[1]?.message).toEqual({
    template: 'email-change-requested',
    userName: 'Ada Lovelace',
    hasPassword: true,
    currentEmail: user.email,
    newEmailMasked: 'N••••@example.test',
    requestedAt,
    ipAddress: '192.0.2.1',
    userAgent: 'test',
    notMe: { url: expect.stringContaining('/not-me#change='), until: expect.any(Date) },
  })
  expect(await ctx.db.notice.findMany({ where: { userId: user.userId } })).toMatchObject([
    { id: ctx.mailbox[1]?.id, sentAt: ctx.clock.now(), dueAt: null },
  ])
})

test('a wrong password takes its places, and the right one gives its own back', async () => {
  const newEmail = `new-${user.email}`
  for (const wrong of ['wrong', `${user.password} `]) {
    expect(await outcomeOf(change(newEmail, wrong))).toBe('EMAIL_007')
  }
  expect(ctx.mailbox).toEqual([])
  ctx.clock.advance(1)
  await change(newEmail)
  expect(await allPlacesTaken(newEmail)).toEqual({ ...accepted, password: 2, passwordDay: 2 })
})

test('of many concurrent changes to a taken address, five are told that it is taken', async () => {
  const many = { places: 100, windowMs: hour }
  Object.assign(ctx.limits, { password: many, passwordDay: many })
  const other = await givenUser(ctx)
  const caller = await asUser(ctx, user)
  const input = changeInput(user, other.email)
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => outcomeOf(changeEmail(caller, input))))
  expect(tally(outcomes)).toEqual({ EMAIL_002: 5, EMAIL_008: 7 })
})

const keepingTokens = { password: 'another password', keepTokens: true }
test.each([
  {
    ...{ what: 'the password is changed and the token kept', code: 'EMAIL_007' },
    act: () => setPassword(ctx, { userId: user.userId, ...keepingTokens }),
  },
  { what: 'the account is withdrawn', code: 'AUTH_001', act: () => withdrawAs(ctx, user) },
])('a change by an access token gets $code when $what during sending', async ({ act, code }) => {
  const { userId } = user
  const call = await asToken(ctx, userId, ['email:manage'])
  call.mail = { ...ctx.mail, send: (mail) => act().then(() => ctx.mail.send(mail)) }
  const newEmail = `new-${user.email}`
  expect(await outcomeOf(changeEmail(call, changeInput(user, newEmail)))).toBe(code)
  expect(await allPlacesTaken(newEmail)).toMatchObject({ change: 0, target: 1, targetMail: 1 })
  expect(await requestsOpened()).toBe(0)
})

test('an address that is taken during sending is refused as taken, and takes the same places', async () => {
  const newEmail = `new-${user.email}`
  const { send } = ctx.mail
  ctx.mail.send = async (mail) => {
    await givenUser(ctx, newEmail)
    return send(mail)
  }
  expect(await outcomeOf(change(newEmail))).toBe('EMAIL_002')
  expect(await allPlacesTaken(newEmail)).toMatchObject({ change: 0, taken: 1, target: 1, targetMail: 1 })
  expect(await requestsOpened()).toBe(0)
})

/** The statement that opens a request fails with this error. */
const failing = (error: Error): TestContext => atStatement(ctx, 'open-email-change', () => Promise.reject(error))

test("if the database's answer is lost, the place stays taken, because the request may be open", async () => {
  const newEmail = `new-${user.email}`
  const lost = failing(new Error('connection lost'))
  await expect(change(newEmail, user.password, lost)).rejects.toThrow('connection lost')
  expect(await allPlacesTaken(newEmail)).toMatchObject({ change: 1, target: 1, targetMail: 1 })
})

test('if the database itself undoes the statement, no request is open, and the places are given back', async () => {
  const newEmail = `new-${user.email}`
  const undone = Object.assign(new Error('canceling statement'), { code: '57014', severity: 'ERROR' })
  await expect(change(newEmail, user.password, failing(undone))).rejects.toThrow('canceling statement')
  expect(await allPlacesTaken(newEmail)).toEqual({ ...untouched, target: 1, targetMail: 1 })
})

test('a change is refused if the account verifies its address while the change waits for the lock', async () => {
  const newEmail = `new-${user.email}`
  const input = changeInput(user, newEmail)
  const caller = await asUser(ctx, user)
  const outcome = await heldUp(
    ctx,
    ['users', user.userId],
    () => outcomeOf(changeEmail(caller, input)),
    (sql) => rawSql(sql, 'UPDATE users SET email = $2, email_key = $2 WHERE id = $1', [user.userId, newEmail]),
  )
  expect(outcome).toBe('EMAIL_002')
  expect(await requestsOpened()).toBe(0)
})
