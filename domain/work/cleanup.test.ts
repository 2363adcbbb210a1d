import { beforeEach, expect, test } from 'vitest'
import { givenPendingChange, verifyChange } from '@/testing/account'
import { givenToken } from '@/testing/callers'
import { givenSession, givenUser, pass, passDays, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { day } from '../limits/durations'
import { expireNotices } from '../mail/notice-queue'
import { signOut } from '../sessions/sign-ins'
import { cleanUp } from './cleanup'

const millisecond = 1

let ctx: TestContext
let user: TestUser
let userId: string

beforeEach(async () => {
  ctx = await testContext({ sessionIdleMs: 30 * day })
  user = await givenUser(ctx)
  userId = user.userId
})

test('ended sessions, tokens and changes are kept for thirty days, and open ones stay', async () => {
  await givenToken(ctx, userId, ['email:manage'], 30 * day)
  const lasting = await givenToken(ctx, userId, ['email:manage'], 365 * day)
  await givenPendingChange(ctx, user)
  await ctx.settle()
  const left = async () => ({
    sessions: (await ctx.db.session.findMany({ where: { userId }, orderBy: { createdAt: 'asc' } })).map(({ id }) => id),
    tokens: await ctx.db.accessToken.count({ where: { userId } }),
    changes: await ctx.db.emailChangeRequest.count({ where: { userId } }),
    notices: await ctx.db.notice.count({ where: { userId } }),
  })
  const whole = { sessions: [user.sessionId], tokens: 2, changes: 1, notices: 1 }

  await pass(ctx, 30 * day)
  expect(await left()).toEqual(whole)
  await pass(ctx, day / 2 + millisecond)
  expect(await left()).toEqual({ ...whole, changes: 0, notices: 0 })
  const later = await givenSession(ctx, userId)
  await pass(ctx, 29.5 * day - millisecond)
  expect(await left()).toEqual({ sessions: [user.sessionId, later], tokens: 2, changes: 0, notices: 0 })
  await pass(ctx, millisecond)
  expect(await left()).toEqual({ sessions: [later], tokens: 1, changes: 0, notices: 0 })
  expect(await ctx.db.accessToken.findFirst({ where: { userId } })).toMatchObject({ id: lasting.id })
})

test('F46 while the clock is doubtful nothing that has ended is deleted, and no notice is given up', async () => {
  await givenPendingChange(ctx, user)
  await ctx.settle()
  const now = ctx.clock.now()
  await ctx.db.notice.updateMany({ where: { userId }, data: { dueAt: now, expiresAt: now, sentAt: null } })
  ctx.clock.advance(61 * day)
  const sweep = async (isOff: boolean) => {
    const swept = { ...ctx, clock: { ...ctx.clock, isOff: () => isOff } }
    await Promise.all([cleanUp(swept), expireNotices(swept)])
    return [
      await ctx.db.session.count({ where: { userId } }),
      await ctx.db.notice.count({ where: { userId, dueAt: { not: null } } }),
    ]
  }
  expect(await sweep(true)).toEqual([1, 1])
  expect(await sweep(false)).toEqual([0, 0])
})

test('a revoked session or token is kept for thirty days after its revocation', async () => {
  const { id } = await givenToken(ctx, userId)
  await signOut(ctx, user.sessionId)
  await ctx.db.accessToken.update({ where: { id }, data: { revokedAt: ctx.clock.now() } })
  const left = async () => [
    await ctx.db.session.count({ where: { userId } }),
    await ctx.db.accessToken.count({ where: { userId } }),
  ]
  ctx.clock.advance(30 * day)
  await cleanUp(ctx)
  expect(await left()).toEqual([1, 1])
  ctx.clock.advance(millisecond)
  await cleanUp(ctx)
  expect(await left()).toEqual([0, 0])
})

test('L20 one cleanup deletes all expired buckets and no other, however many there are', async () => {
  const data = Array.from({ length: 2_500 }, (_, n) => ({
    key: `over-${n}`,
    hits: [ctx.clock.now()],
    places: 1,
    windowMs: 1,
    granted: true,
    expiresAt: ctx.clock.now(),
  }))
  await ctx.db.rateLimit.createMany({ data })
  const left = () => ctx.db.rateLimit.count({ where: { key: { startsWith: 'over-' } } })
  await cleanUp(ctx)
  expect(await left()).toBe(2_500)
  ctx.clock.advance(millisecond)
  await cleanUp(ctx)
  expect(await left()).toBe(0)
})

test('audit rows keep their client address for thirty days, and everything else forever, however many there are', async () => {
  const at = ctx.clock.now()
  const row = { userId, action: 'email.changed', actor: 'session', ip: '192.0.2.1', at }
  const data = Array.from({ length: 2_500 }, (_, n) => ({ ...row, id: `aud_many_${n}` }))
  await ctx.db.auditEvent.createMany({ data })
  const rows = () => ctx.db.auditEvent.findMany({ where: { userId }, orderBy: { id: 'asc' } })
  const before = await rows()
  ctx.clock.advance(30 * day)
  await cleanUp(ctx)
  expect(await rows()).toEqual(before)
  ctx.clock.advance(millisecond)
  await cleanUp(ctx)
  expect(await rows()).toEqual(before.map((row) => ({ ...row, ip: null })))
})

test('an unsent notice outlives the thirty days with its change, and is sent', async () => {
  const change = await givenPendingChange(ctx, user)
  ctx.mailServer.accepts = false
  await verifyChange(ctx, user, change)
  await ctx.settle()
  await passDays(ctx, 40)
  const left = async () => [
    await ctx.db.emailChangeRequest.count({ where: { userId } }),
    await ctx.db.notice.count({ where: { userId, dueAt: { not: null } } }),
  ]
  expect(await left()).toEqual([1, 2])
  ctx.mailServer.accepts = true
  await pass(ctx, day)
  const recipients = ctx.mailbox.filter(({ message }) => message.template === 'email-changed').map(({ to }) => to)
  expect(recipients.sort()).toEqual([user.email, change.new_email].sort())
  await cleanUp(ctx)
  expect(await left()).toEqual([0, 0])
})
