import { expect, test } from 'vitest'
import { issueAccessToken } from './access/access-tokens'
import { signOut } from './access/sessions'
import { forgetWhatIsOver } from './forget'
import { givenPendingChange, givenSession, givenUser, runDueWork, testContext } from './testing'

const day = 24 * 60 * 60 * 1000
const millisecond = 1

test('sessions, tokens and changes are kept for thirty days after their end, and not longer; what still works stays', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { userId } = user
  const token = { userId, name: 'test', scopes: ['email:manage' as const], actor: 'operator' }
  await issueAccessToken(ctx, { ...token, expiresInMs: 30 * day })
  const lasting = await issueAccessToken(ctx, { ...token, expiresInMs: 365 * day })
  await givenPendingChange(ctx, user)
  await ctx.settle()
  const left = async () => ({
    sessions: (await ctx.db.session.findMany({ where: { userId }, orderBy: { createdAt: 'asc' } })).map(({ id }) => id),
    tokens: await ctx.db.accessToken.count({ where: { userId } }),
    changes: await ctx.db.emailChangeRequest.count({ where: { userId } }),
    notices: await ctx.db.notice.count({ where: { userId } }),
  })
  const whole = { sessions: [user.sessionId], tokens: 2, changes: 1, notices: 1 }

  ctx.clock.advance(30 * day)
  await runDueWork(ctx)
  expect(await left()).toEqual(whole)
  ctx.clock.advance(day / 2 + millisecond)
  await runDueWork(ctx)
  expect(await left()).toEqual({ ...whole, changes: 0, notices: 0 })
  const later = await givenSession(ctx, userId)
  ctx.clock.advance(29.5 * day - millisecond)
  await runDueWork(ctx)
  expect(await left()).toEqual({ sessions: [user.sessionId, later], tokens: 2, changes: 0, notices: 0 })
  ctx.clock.advance(millisecond)
  await runDueWork(ctx)
  expect(await left()).toEqual({ sessions: [later], tokens: 1, changes: 0, notices: 0 })
  expect(await ctx.db.accessToken.findFirst({ where: { userId } })).toMatchObject({ id: lasting.id })
})

test('what was revoked is kept for thirty days after that', async () => {
  const ctx = await testContext()
  const { userId, sessionId } = await givenUser(ctx)
  const { id: tokenId } = await issueAccessToken(ctx, {
    userId,
    name: 'test',
    scopes: ['email:manage'],
    actor: 'operator',
    expiresInMs: 365 * day,
  })
  await signOut(ctx, sessionId)
  await ctx.db.accessToken.update({ where: { id: tokenId }, data: { revokedAt: ctx.clock.now() } })
  const left = async () => [
    await ctx.db.session.count({ where: { userId } }),
    await ctx.db.accessToken.count({ where: { userId } }),
  ]
  ctx.clock.advance(30 * day)
  await forgetWhatIsOver(ctx)
  expect(await left()).toEqual([1, 1])
  ctx.clock.advance(millisecond)
  await forgetWhatIsOver(ctx)
  expect(await left()).toEqual([0, 0])
})

test('however much has come together is forgotten in one go', async () => {
  const ctx = await testContext()
  const data = Array.from({ length: 2_500 }, (_, n) => ({
    key: `over-${n}`,
    hits: [ctx.clock.now()],
    places: 1,
    windowMs: 1,
    granted: true,
    expiresAt: ctx.clock.now(),
  }))
  await ctx.db.rateLimit.createMany({ data })
  ctx.clock.advance(millisecond)
  await forgetWhatIsOver(ctx)
  expect(await ctx.db.rateLimit.count({ where: { key: { startsWith: 'over-' } } })).toBe(0)
})
