import { beforeEach, expect, test } from 'vitest'
import { NOTHING_PENDING } from '@/contract/email'
import { givenPendingChange } from '@/testing/account'
import { asNobody, asUser, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { getEmailChange } from './get-email-change'
import { getEmailStatus } from './get-email-status'

const statusOf = async (ctx: TestContext, user: TestUser) => getEmailStatus(await asUser(ctx, user))

const requestOf = async (ctx: TestContext, user: TestUser, change_request_id: string) =>
  (await getEmailStatus(await asUser(ctx, user), { change_request_id })).change_request

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

test('without a change the status shows the address and when it was verified', async () => {
  expect(await statusOf(ctx, user)).toEqual({
    current_email: user.email,
    email_verified: true,
    verified_at: '2026-11-20T09:00:00.000Z',
    email_undeliverable: false,
    pending_change: NOTHING_PENDING,
  })
})

test('an address that was never verified is shown as unverified', async () => {
  await ctx.db.user.update({ where: { id: user.userId }, data: { emailVerifiedAt: null } })
  expect(await statusOf(ctx, user)).toMatchObject({ email_verified: false, verified_at: null })
})

test('a pending change is shown with its times and the remaining attempts', async () => {
  const { change_request_id } = await givenPendingChange(ctx, user)
  await ctx.db.emailChangeRequest.update({ where: { id: change_request_id }, data: { attempts: 2 } })
  expect((await statusOf(ctx, user)).pending_change).toEqual({
    has_pending: true,
    new_email: `new-${user.email}`,
    requested_at: '2026-11-20T09:00:00.000Z',
    expires_at: '2026-11-20T21:00:00.000Z',
    change_request_id,
    verification_method: 'email_code',
    attempts_remaining: 3,
    resend_available_at: '2026-11-20T09:05:00.000Z',
    delivery: 'sent',
  })
})

test('a call for an own change request shows its outcome, and what has ended is not shown as pending', async () => {
  const { change_request_id: id } = await givenPendingChange(ctx, user)
  const requestAs = (status: string) => ({ change_request_id: id, status, new_email: `new-${user.email}` })
  const set = (data: object) => ctx.db.emailChangeRequest.update({ where: { id }, data })
  expect(await requestOf(ctx, user, id)).toEqual(requestAs('pending_verification'))
  await set({ attempts: 5 })
  expect(await requestOf(ctx, user, id)).toEqual(requestAs('exhausted'))
  expect((await statusOf(ctx, user)).pending_change).toEqual(NOTHING_PENDING)
  await set({ attempts: 0 })
  ctx.clock.advance(12 * 3_600_000)
  expect(await requestOf(ctx, user, id)).toEqual(requestAs('expired'))
  expect((await statusOf(ctx, user)).pending_change).toEqual(NOTHING_PENDING)
  for (const status of ['verified', 'superseded', 'cancelled']) {
    await set({ status })
    expect(await requestOf(ctx, user, id)).toEqual(requestAs(status))
  }
})

test('whoever knows the id of a change is told what became of it, and nothing of whose it is', async () => {
  const { change_request_id: id } = await givenPendingChange(ctx, user)
  const read = (changeRequestId: string) => getEmailChange(asNobody(ctx), { changeRequestId })
  expect(await read(id)).toEqual({ change_request_id: id, status: 'pending_verification' })
  await ctx.db.emailChangeRequest.update({ where: { id }, data: { status: 'verified' } })
  expect(await read(id)).toEqual({ change_request_id: id, status: 'verified' })
  for (const unknown of [`ecr_${'A'.repeat(22)}`, '', "' OR true --"])
    expect(await outcomeOf(read(unknown))).toBe('EMAIL_006')
  ctx.limits.read = { places: 2, windowMs: 60_000 }
  expect(await outcomeOf(read(id))).toBe('RATE_001')
})

test("another user's change request looks like an unknown one", async () => {
  const stranger = await givenUser(ctx)
  const { change_request_id: id } = await givenPendingChange(ctx, user)
  expect(await requestOf(ctx, stranger, id)).toBeNull()
  expect(await requestOf(ctx, stranger, `ecr_${'A'.repeat(22)}`)).toBeNull()
  expect(await statusOf(ctx, user)).not.toHaveProperty('change_request')
})
