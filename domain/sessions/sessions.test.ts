import { beforeEach, expect, test } from 'vitest'
import {
  asUser,
  authenticate,
  givenSession,
  givenUser,
  lookalikesOf,
  outcomeOf,
  type TestContext,
  type TestUser,
  testContext,
} from '@/testing/domain'
import { createAccessToken } from './access-tokens'
import { authenticateSession } from './authenticate'
import { createSessionToken } from './page-tokens'
import { endOtherSessions, endSession, listSessions, signOut, touchSession } from './sessions'

const minute = 60 * 1000
const day = 24 * 60 * minute

const listed = async (ctx: TestContext, user: TestUser) => (await listSessions(await asUser(ctx, user))).sessions

const end = async (ctx: TestContext, user: TestUser, sessionId: string) =>
  endSession(await asUser(ctx, user), { userId: user.userId, sessionId })

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

test("the list shows this session and the user's others, last seen first", async () => {
  await givenUser(ctx)
  ctx.clock.advance(minute)
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
  const other = await givenSession(ctx, user.userId, { userAgent, ip: '192.0.2.9' })
  expect(await listed(ctx, user)).toEqual([
    {
      session_id: other,
      current: false,
      user_agent: userAgent,
      ip_address: '192.0.2.9',
      created_at: '2026-11-20T09:01:00.000Z',
      last_seen_at: '2026-11-20T09:01:00.000Z',
    },
    {
      session_id: user.sessionId,
      current: true,
      user_agent: 'test',
      ip_address: '192.0.2.1',
      created_at: '2026-11-20T09:00:00.000Z',
      last_seen_at: '2026-11-20T09:00:00.000Z',
    },
  ])
})

test('the hundred sessions of an account that were seen last stay open, however often somebody signs in', async () => {
  const signInAgain = () => {
    ctx.clock.advance(1)
    return givenSession(ctx, user.userId)
  }
  const second = await signInAgain()
  for (let n = 3; n <= 100; n++) await signInAgain()
  expect(await listed(ctx, user)).toHaveLength(100)
  ctx.clock.advance(minute)
  await touchSession(ctx, user.sessionId)
  const last = await signInAgain()
  const ids = (await listed(ctx, user)).map(({ session_id }) => session_id)
  expect(ids).toHaveLength(100)
  expect(ids.slice(0, 2)).toEqual([last, user.sessionId])
  expect(ids).not.toContain(second)
})

test('the last use of a session is recorded to the minute and puts it first in the list', async () => {
  const other = await givenSession(ctx, user.userId)
  const seenAfter = async (ms: number) => {
    ctx.clock.advance(ms)
    await touchSession(ctx, other)
    return (await listed(ctx, user))[0]
  }
  expect((await seenAfter(minute))?.last_seen_at).toBe('2026-11-20T09:00:00.000Z')
  expect(await seenAfter(1)).toMatchObject({ session_id: other, last_seen_at: '2026-11-20T09:01:00.001Z' })
})

test('expired sessions are not in the list', async () => {
  ctx.clock.advance(day)
  const later = { ...user, sessionId: await givenSession(ctx, user.userId) }
  ctx.clock.advance(29 * day)
  expect((await listed(ctx, later)).map(({ session_id }) => session_id)).toEqual([later.sessionId])
})

test('an ended session is refused at once, and none is ended twice or by another user', async () => {
  const other = await givenSession(ctx, user.userId)
  const { token } = createSessionToken(ctx, other)
  expect(await authenticate(ctx, token)).toMatchObject({ kind: 'session', id: other })
  for (const text of lookalikesOf(token)) expect(await authenticate(ctx, text)).toBeNull()
  expect(await end(ctx, user, other)).toEqual({ session_id: other, ended: true })
  expect(await authenticateSession(ctx, other)).toBeNull()
  expect(await authenticate(ctx, token)).toBeNull()
  for (const id of [other, 'ses_0000000000000000000000']) {
    expect(await outcomeOf(end(ctx, user, id))).toBe('REQUEST_005')
  }
  expect(await outcomeOf(end(ctx, await givenUser(ctx), user.sessionId))).toBe('REQUEST_005')
  expect((await listed(ctx, user)).map(({ session_id }) => session_id)).toEqual([user.sessionId])
})

test('a session can end itself, and signing out does the same', async () => {
  const other = await givenSession(ctx, user.userId)
  await end(ctx, user, user.sessionId)
  expect(await authenticateSession(ctx, user.sessionId)).toBeNull()
  await signOut(ctx, other)
  await signOut(ctx, other)
  expect(await authenticateSession(ctx, other)).toBeNull()
  const events = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'session.revoked' } })
  expect(events.map(({ subjectId }) => subjectId).sort()).toEqual([user.sessionId, other].sort())
})

test("ending the other sessions keeps this session, access tokens and other users' sessions", async () => {
  const stranger = await givenUser(ctx)
  const others = [await givenSession(ctx, user.userId), await givenSession(ctx, user.userId)]
  const asked = await asUser(ctx, user)
  const input = { userId: user.userId, name: 'Export', scopes: ['email:manage' as const], expires_in_days: 30 }
  const { access_token } = await createAccessToken(asked, input)
  expect(await endOtherSessions(asked)).toEqual({ ended: 2 })
  for (const other of others) expect(await authenticateSession(ctx, other)).toBeNull()
  expect(await authenticateSession(ctx, user.sessionId)).not.toBeNull()
  expect(await authenticateSession(ctx, stranger.sessionId)).not.toBeNull()
  expect(await authenticate(ctx, access_token)).not.toBeNull()
  expect(await endOtherSessions(asked)).toEqual({ ended: 0 })
})
