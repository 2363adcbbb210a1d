import { beforeEach, expect, test } from 'vitest'
import { authenticate, givenVerifiedChange, lookalikesOf } from '@/testing/account'
import { asUser, givenSession, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { atStatement } from '@/testing/statements'
import { changePassword } from '../passwords/change-password'
import { withdrawAccount } from '../withdrawal/withdraw-account'
import { createAccessToken } from './access-tokens'
import { authenticateSession } from './authenticate'
import { createSessionToken } from './page-tokens'
import { endOtherSessions, endSession, listSessions, noteSessionUse } from './sessions'
import { signOut } from './sign-ins'
import { whySessionEnded } from './why-ended'

const minute = 60 * 1000
const hour = 60 * minute
const day = 24 * hour

const listed = async (of = user) => (await listSessions(await asUser(ctx, of))).sessions
const listedIds = async (of = user) => (await listed(of)).map(({ session_id }) => session_id)

const end = async (sessionId: string, by = user) => endSession(await asUser(ctx, by), { userId: by.userId, sessionId })

/** A page is opened in this session. */
async function use(sessionId: string) {
  const actor = await authenticateSession(ctx, sessionId)
  if (actor) noteSessionUse(ctx, actor)
  await ctx.settle()
}

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
  expect(await listed()).toEqual([
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
  expect(await listed()).toHaveLength(100)
  ctx.clock.advance(hour)
  await use(user.sessionId)
  const last = await signInAgain()
  const ids = await listedIds()
  expect(ids).toHaveLength(100)
  expect(ids.slice(0, 2)).toEqual([last, user.sessionId])
  expect(ids).not.toContain(second)
})

test('the last use of a session is recorded to the hour and puts it first in the list', async () => {
  const other = await givenSession(ctx, user.userId)
  const seenAfter = async (ms: number) => {
    ctx.clock.advance(ms)
    await use(other)
    return (await listed())[0]
  }
  expect((await seenAfter(hour - 1))?.last_seen_at).toBe('2026-11-20T09:00:00.000Z')
  expect(await seenAfter(1)).toMatchObject({ session_id: other, last_seen_at: '2026-11-20T10:00:00.000Z' })
})

test('B83 a session ends when it was not used for SESSION_IDLE, and at SESSION_LIFETIME however much it is used', async () => {
  ctx.limits = { ...ctx.limits, sessionIdleMs: 2 * day, sessionLifetimeMs: 7 * day }
  const [used, unused] = [await givenSession(ctx, user.userId), await givenSession(ctx, user.userId)]
  const isOpen = async (id: string) => (await authenticateSession(ctx, id)) !== null
  ctx.clock.advance(2 * day - 1)
  expect([await isOpen(used), await isOpen(unused)]).toEqual([true, true])
  await use(used)
  ctx.clock.advance(1)
  expect([await isOpen(used), await isOpen(unused)]).toEqual([true, false])
  // What has ended is not used any more.
  await use(unused)
  expect(await isOpen(unused)).toBe(false)
  for (let days = 3; days <= 6; days++) {
    ctx.clock.advance(day)
    await use(used)
  }
  ctx.clock.advance(day - 1)
  expect(await isOpen(used)).toBe(true)
  const shown = await listedIds({ ...user, sessionId: used })
  expect([shown.includes(used), shown.includes(unused)]).toEqual([true, false])
  await use(used)
  ctx.clock.advance(1)
  expect(await isOpen(used)).toBe(false)
})

test('B83 a shorter lifetime holds for a session from its next use on', async () => {
  ctx.clock.advance(8 * day)
  ctx.limits = { ...ctx.limits, sessionLifetimeMs: 7 * day }
  await use(user.sessionId)
  expect(await authenticateSession(ctx, user.sessionId)).toBeNull()
})

test('a session in constant use writes once an hour, and oftener only where SESSION_IDLE is short', async () => {
  const writes = async () => {
    let count = 0
    const counting = atStatement(ctx, 'touch-session', (run) => {
      count++
      return run()
    })
    for (let minutes = 0; minutes < 120; minutes += 5) {
      ctx.clock.advance(5 * minute)
      const actor = await authenticateSession(ctx, user.sessionId)
      noteSessionUse(counting, actor as NonNullable<typeof actor>)
      await ctx.settle()
    }
    return count
  }
  expect(await writes()).toBe(2)
  ctx.limits = { ...ctx.limits, sessionIdleMs: hour }
  expect(await writes()).toBe(24)
})

test('B84 another session, one or all, is ended after a fresh sign-in alone, and the own one at any time', async () => {
  const other = await givenSession(ctx, user.userId)
  ctx.clock.advance(10 * minute + 1)
  expect(await outcomeOf(end(other))).toBe('REAUTH_001')
  expect(await outcomeOf(end('ses_0000000000000000000000'))).toBe('REAUTH_001')
  expect(await outcomeOf(endOtherSessions(await asUser(ctx, user)))).toBe('REAUTH_001')
  expect(await authenticateSession(ctx, other)).not.toBeNull()
  const fresh = { ...user, sessionId: await givenSession(ctx, user.userId) }
  expect(await outcomeOf(end(other, fresh))).toBe('accepted')
  expect(await endOtherSessions(await asUser(ctx, fresh))).toEqual({ ended: 1 })
  ctx.clock.advance(10 * minute + 1)
  expect(await outcomeOf(end(fresh.sessionId, fresh))).toBe('accepted')
})

test('an ended session is refused at once, and none is ended twice or by another user', async () => {
  const other = await givenSession(ctx, user.userId)
  const { token } = createSessionToken(ctx, other)
  expect(await authenticate(ctx, token)).toMatchObject({ kind: 'session', id: other })
  for (const text of lookalikesOf(token)) expect(await authenticate(ctx, text)).toBeNull()
  expect(await end(other)).toEqual({ session_id: other, ended: true })
  expect(await authenticateSession(ctx, other)).toBeNull()
  expect(await authenticate(ctx, token)).toBeNull()
  for (const id of [other, 'ses_0000000000000000000000']) {
    expect(await outcomeOf(end(id))).toBe('REQUEST_005')
  }
  expect(await outcomeOf(end(user.sessionId, await givenUser(ctx)))).toBe('REQUEST_005')
  expect(await listedIds()).toEqual([user.sessionId])
})

test('a session can end itself, and signing out does the same', async () => {
  const other = await givenSession(ctx, user.userId)
  await end(user.sessionId)
  expect(await authenticateSession(ctx, user.sessionId)).toBeNull()
  await signOut(ctx, other)
  await signOut(ctx, other)
  expect(await authenticateSession(ctx, other)).toBeNull()
  const events = await ctx.db.auditEvent.findMany({
    where: { userId: user.userId, action: { in: ['session.revoked', 'sign_out'] } },
  })
  expect(events.map(({ subjectId }) => subjectId).sort()).toEqual([user.sessionId, other].sort())
})

test("ending the other sessions keeps this session, access tokens and other users' sessions", async () => {
  const stranger = await givenUser(ctx)
  const others = [await givenSession(ctx, user.userId), await givenSession(ctx, user.userId)]
  const caller = await asUser(ctx, user)
  const input = { userId: user.userId, name: 'Export', scopes: ['email:manage' as const], expires_in_days: 30 }
  const { access_token } = await createAccessToken(caller, input)
  expect(await endOtherSessions(caller)).toEqual({ ended: 2 })
  for (const other of others) expect(await authenticateSession(ctx, other)).toBeNull()
  expect(await authenticateSession(ctx, user.sessionId)).not.toBeNull()
  expect(await authenticateSession(ctx, stranger.sessionId)).not.toBeNull()
  expect(await authenticate(ctx, access_token)).not.toBeNull()
  expect(await endOtherSessions(caller)).toEqual({ ended: 0 })
})

test('B134 a browser whose session has ended learns of a new address, a new password and a deletion, and of nothing else', async () => {
  const own = user.sessionId
  const left = await givenSession(ctx, user.userId)
  const signedOut = await givenSession(ctx, user.userId)
  await end(signedOut)
  ctx.clock.advance(minute)
  await givenVerifiedChange(ctx, user)
  expect(await whySessionEnded(ctx, left)).toBe('address_changed')
  expect(await whySessionEnded(ctx, own)).toBe('other')
  expect(await whySessionEnded(ctx, signedOut)).toBe('other')
  expect(await whySessionEnded(ctx, 'unknown')).toBe('other')
  const open = await givenSession(ctx, user.userId)
  const passwords = { current_password: user.password, new_password: 'a password of the owner alone' }
  await changePassword(await asUser(ctx, user), { userId: user.userId, ...passwords })
  expect(await whySessionEnded(ctx, open)).toBe('password_changed')
  await withdrawAccount(await asUser(ctx, user), { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' })
  expect(await whySessionEnded(ctx, own)).toBe('deleted')
  await ctx.db.session.deleteMany({ where: { userId: user.userId } })
  expect(await whySessionEnded(ctx, own)).toBe('deleted')
})
