import { expect, test } from 'vitest'
import {
  asUser,
  codeSentTo,
  givenPendingChange,
  givenUser,
  refusalOf,
  type TestContext,
  type TestUser,
  tally,
  testContext,
} from '../testing'
import { setPassword } from '../user'
import { changeEmail } from './change-email'
import { getEmailStatus } from './get-email-status'

const hour = 60 * 60 * 1000

const change = async (ctx: TestContext, user: TestUser, newEmail: string, password = user.password) =>
  changeEmail(await asUser(ctx, user), { userId: user.userId, new_email: newEmail, current_password: password })

const statusOf = async (ctx: TestContext, user: TestUser) => getEmailStatus(await asUser(ctx, user))

test('a change keeps the current address and mails the new one', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const pending = await givenPendingChange(ctx, user)
  expect(pending).toMatchObject({
    status: 'pending_verification',
    verification_method: 'email_code',
    verification_expires_at: '2026-11-20T21:00:00.000Z',
    current_email_retained: true,
  })
  expect(await statusOf(ctx, user)).toMatchObject({
    current_email: user.email,
    pending_change: {
      has_pending: true,
      change_request_id: pending.change_request_id,
      attempts_remaining: 5,
      resend_available_at: '2026-11-20T09:05:00.000Z',
    },
  })
})

test('the current address is told of the request, with the new one masked and without code or link', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const pending = await givenPendingChange(ctx, user)
  const [notice, ...others] = ctx.mailbox.filter(({ to }) => to === user.email)
  expect(others).toEqual([])
  expect(notice?.message.template).toBe('email-change-requested')
  expect(JSON.stringify(notice)).not.toContain(pending.code)
  expect(JSON.stringify(notice)).not.toContain(`new-${user.email}`)
})

test('a wrong password changes nothing and sends nothing', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  expect(await refusalOf(change(ctx, user, 'x@example.test', `${user.password} `))).toBe('EMAIL_007')
  expect(ctx.mailbox).toEqual([])
  expect(await ctx.db.emailChangeRequest.count({ where: { userId: user.userId } })).toBe(0)
})

test('five wrong passwords are judged, however many arrive at once, and the right one then waits too', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const refusals = await Promise.all(
    Array.from({ length: 30 }, () => refusalOf(change(ctx, user, 'x@example.test', 'wrong'))),
  )
  expect(tally(refusals)).toEqual({ EMAIL_007: 5, EMAIL_008: 25 })
  expect(await refusalOf(change(ctx, user, 'x@example.test'))).toBe('EMAIL_008')
  ctx.clock.advance(hour / 4)
  expect(await refusalOf(change(ctx, user, `new-${user.email}`))).toBe('accepted')
})

test('twenty wrong passwords a day are judged', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  for (let round = 0; round < 4; round++) {
    for (let guess = 0; guess < 5; guess++) await refusalOf(change(ctx, user, 'x@example.test', 'wrong'))
    ctx.clock.advance(hour / 4)
  }
  expect(await refusalOf(change(ctx, user, 'x@example.test', 'wrong'))).toBe('EMAIL_008')
  ctx.clock.advance(23 * hour)
  expect(await refusalOf(change(ctx, user, 'x@example.test', 'wrong'))).toBe('EMAIL_007')
})

test('100 parallel changes: exactly three are accepted and one stays pending', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const refusals = await Promise.all(
    Array.from({ length: 100 }, (_, n) => refusalOf(change(ctx, user, `p${n}-${user.email}`))),
  )
  expect(tally(refusals)).toEqual({ accepted: 3, EMAIL_008: 97 })
  const requests = await ctx.db.emailChangeRequest.groupBy({
    by: ['status'],
    where: { userId: user.userId },
    _count: true,
  })
  expect(Object.fromEntries(requests.map(({ status, _count }) => [status, _count]))).toEqual({
    pending_verification: 1,
    superseded: 2,
  })
})

test('the fourth change passes one hour after the first, not a millisecond earlier', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  for (const name of ['a', 'b', 'c']) {
    await change(ctx, user, `${name}-${user.email}`)
    ctx.clock.advance(60_000)
  }
  ctx.clock.advance(hour - 3 * 60_000 - 1)
  await expect(change(ctx, user, `d-${user.email}`)).rejects.toMatchObject({ code: 'EMAIL_008', retryAfterSeconds: 1 })
  ctx.clock.advance(1)
  expect(await refusalOf(change(ctx, user, `d-${user.email}`))).toBe('accepted')
})

test('an address that is taken is told only with the right password, and five times an hour', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const other = await givenUser(ctx)
  expect(await refusalOf(change(ctx, user, other.email, 'wrong'))).toBe('EMAIL_007')
  expect(await refusalOf(change(ctx, user, user.email))).toBe('EMAIL_002')
  for (let probe = 0; probe < 4; probe++)
    expect(await refusalOf(change(ctx, user, other.email.toUpperCase()))).toBe('EMAIL_002')
  expect(await refusalOf(change(ctx, user, `free-${user.email}`))).toBe('EMAIL_008')
  ctx.clock.advance(hour)
  expect(await refusalOf(change(ctx, user, `free-${user.email}`))).toBe('accepted')
})

test('when the mail server refuses, nothing is kept, no quota is spent and the older change stays', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const older = await givenPendingChange(ctx, user)
  ctx.mailServer.accepts = false
  for (let tries = 0; tries < 4; tries++) {
    expect(await refusalOf(change(ctx, user, `again-${user.email}`))).toBe('EMAIL_009')
  }
  ctx.mailServer.accepts = true
  const { pending_change } = await statusOf(ctx, user)
  expect(pending_change.change_request_id).toBe(older.change_request_id)
  expect(await refusalOf(change(ctx, user, `b-${user.email}`))).toBe('accepted')
  expect(await refusalOf(change(ctx, user, `c-${user.email}`))).toBe('accepted')
  expect(await refusalOf(change(ctx, user, `d-${user.email}`))).toBe('EMAIL_008')
})

test('five requests a day can aim at one address, whoever asks', async () => {
  const ctx = await testContext()
  const target = 'victim@example.test'
  for (let n = 0; n < 5; n++) expect(await refusalOf(change(ctx, await givenUser(ctx), target))).toBe('accepted')
  expect(await refusalOf(change(ctx, await givenUser(ctx), target.toUpperCase()))).toBe('EMAIL_008')
  expect(ctx.mailbox.filter(({ to }) => to === target)).toHaveLength(5)
})

test('a password change cancels the pending change and ends the sessions', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const pending = await givenPendingChange(ctx, user)
  await setPassword(ctx, { userId: user.userId, password: 'another password' })
  await expect(asUser(ctx, user)).rejects.toThrow('the session has ended')
  const request = await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id: pending.change_request_id } })
  expect(request.status).toBe('cancelled')
})

test('neither the code nor the link stands in any table', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await givenPendingChange(ctx, user)
  const code = codeSentTo(ctx, `new-${user.email}`)
  const [request] = await ctx.db.$queryRaw<{ row: string }[]>`
    SELECT to_jsonb(r)::text AS row FROM email_change_requests r WHERE user_id = ${user.userId}`
  expect(request?.row).toBeDefined()
  expect(request?.row).not.toContain(`"${code}"`)
  expect(request?.row).not.toContain('code=')
})
