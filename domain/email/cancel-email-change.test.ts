import { expect, test } from 'vitest'
import { givenPendingChange } from '@/testing/account'
import { asUser, givenUser, testContext } from '@/testing/domain'
import { outcomeOf, tally } from '@/testing/outcomes'
import { cancelEmailChange } from './cancel-email-change'

test('cancelling closes the request and records who did it, from where and when', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { change_request_id: changeRequestId } = await givenPendingChange(ctx, user)
  ctx.clock.advance(1_000)
  expect(await cancelEmailChange(await asUser(ctx, user), { userId: user.userId, changeRequestId })).toEqual({
    change_request_id: changeRequestId,
    status: 'cancelled',
  })
  expect(await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id: changeRequestId } })).toMatchObject({
    status: 'cancelled',
    closedAt: ctx.clock.now(),
    closedIp: '192.0.2.1',
  })
  const audited = await ctx.db.auditEvent.findMany({ where: { action: 'email_change.cancelled', userId: user.userId } })
  const at = ctx.clock.now()
  expect(audited).toMatchObject([{ actor: 'session', subjectId: changeRequestId, ip: '192.0.2.1', at }])
})

test('of several concurrent cancellations of one request, one succeeds', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { change_request_id: changeRequestId } = await givenPendingChange(ctx, user)
  const caller = await asUser(ctx, user)
  const cancel = () => outcomeOf(cancelEmailChange(caller, { userId: user.userId, changeRequestId }))
  expect(tally(await Promise.all([cancel(), cancel(), cancel()]))).toEqual({ accepted: 1, EMAIL_006: 2 })
  expect(await ctx.db.auditEvent.count({ where: { action: 'email_change.cancelled', userId: user.userId } })).toBe(1)
})
