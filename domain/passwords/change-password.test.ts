import { beforeEach, expect, test } from 'vitest'
import { NOTICE_KINDS } from '@/domain/notices'
import { asToken, authenticate, givenPendingChange, signInAs } from '@/testing/account'
import { givenToken } from '@/testing/callers'
import { asUser, givenSession, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { setPassword } from '../accounts/user'
import { sendDueNotices } from '../mail/notice-queue'
import { signOut } from '../sessions/sign-ins'
import { changePassword } from './change-password'

const day = 86_400_000
const NEW = 'a password of the owner alone'

const input = (user: TestUser, wanted = NEW, current = user.password) => ({
  userId: user.userId,
  current_password: current,
  new_password: wanted,
})
const openSessions = async () =>
  (await ctx.db.session.findMany({ where: { userId: user.userId, revokedAt: null } })).map(({ id }) => id)

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

test('B39 a new password ends every other session and every access token, and cancels the pending change', async () => {
  await givenSession(ctx, user.userId)
  const { token } = await givenToken(ctx, user.userId)
  const { change_request_id: id } = await givenPendingChange(ctx, user)
  expect(await changePassword(await asUser(ctx, user), input(user))).toEqual({ password_changed: true })
  await ctx.settle()

  expect(await openSessions()).toEqual([user.sessionId])
  expect(await authenticate(ctx, token)).toBeNull()
  expect(await ctx.db.emailChangeRequest.findUnique({ where: { id } })).toMatchObject({ status: 'cancelled' })
  expect(await signInAs(ctx, user)).toBeNull()
  expect(await signInAs(ctx, { ...user, password: NEW })).not.toBeNull()
  const audited = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'password.changed' } })
  expect(audited).toMatchObject([{ actor: 'session', ip: '192.0.2.1' }])
})

test('an access token that changes the password ends every session, and itself', async () => {
  await changePassword(await asToken(ctx, user.userId, ['account:manage']), input(user))
  expect(await openSessions()).toEqual([])
  expect(await ctx.db.accessToken.count({ where: { userId: user.userId, revokedAt: null } })).toBe(0)
})

test('B40 the address gets the notice of a new password after any mail outage, even if the address is changed meanwhile', async () => {
  ctx.mailServer.accepts = false
  await changePassword(await asUser(ctx, user), input(user))
  await ctx.settle()
  const at = ctx.clock.now()
  const email = `moved-${user.email}`
  await ctx.db.user.update({ where: { id: user.userId }, data: { email, emailKey: email } })
  ctx.mailServer.accepts = true
  ctx.clock.advance(day)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(ctx.mailbox).toMatchObject([
    {
      to: user.email,
      message: { template: 'password-changed', changedAt: at, ipAddress: '192.0.2.1', keepsBrowser: true },
    },
  ])
  const [notice] = await ctx.db.notice.findMany({ where: { userId: user.userId } })
  expect(notice).toMatchObject({ sealed: null, sentAt: ctx.clock.now() })
})

test('B121 an address that was never verified learns of a new password, and nothing of who set it', async () => {
  await ctx.db.user.update({ where: { id: user.userId }, data: { emailVerifiedAt: null } })
  await changePassword(await asUser(ctx, user), input(user))
  await ctx.settle()
  const message = { template: 'password-changed', userName: '', isVerified: false }
  expect(ctx.mailbox).toMatchObject([{ to: user.email, message }])
})

test('neither a right password nor an invalid new one takes a place', async () => {
  const caller = await asUser(ctx, user)
  for (let n = 0; n < 25; n++) {
    expect(await outcomeOf(changePassword(caller, input(user, user.password)))).toBe('PASSWORD_001')
  }
  expect(await outcomeOf(changePassword(caller, input(user)))).toBe('accepted')
})

test('an account without a password gets EMAIL_007, and its guesses count', async () => {
  await ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash: null } })
  const caller = await asUser(ctx, user)
  const outcomes: string[] = []
  for (let n = 0; n < 6; n++) outcomes.push(await outcomeOf(changePassword(caller, input(user))))
  expect(outcomes).toEqual([...Array(5).fill('EMAIL_007'), 'EMAIL_008'])
})

test('of two concurrent password changes one succeeds, and the other is refused', async () => {
  const caller = await asUser(ctx, user)
  const outcomes = await Promise.all(
    [NEW, `${NEW} 2`].map((wanted) => outcomeOf(changePassword(caller, input(user, wanted)))),
  )
  expect(outcomes.sort()).toEqual(['EMAIL_007', 'accepted'])
})

test.each([
  ['the end of its session', () => signOut(ctx, user.sessionId)],
  ['another password', () => setPassword(ctx, { userId: user.userId, password: 'another password' })],
])('a change of the password is refused after %s meanwhile', async (_what, act) => {
  const caller = await asUser(ctx, user)
  const hash = async (password: string) => {
    await act()
    return ctx.passwords.hash(password)
  }
  caller.passwords = { ...caller.passwords, hash }
  expect(await outcomeOf(changePassword(caller, input(user)))).toBe('AUTH_001')
  expect(await signInAs(ctx, { ...user, password: NEW })).toBeNull()
})

test('a sign-in with the old password that waits for the change gets no session', async () => {
  const before = await openSessions()
  const change = changePassword(await asUser(ctx, user), input(user))
  await Promise.all([change, signInAs(ctx, user)])
  expect(await openSessions()).toEqual(before)
})
