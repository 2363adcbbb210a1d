import { expect, test } from 'vitest'
import { givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { atStatement } from '@/testing/statements'
import { setPassword } from '../accounts/user'
import { signIn } from './sign-in'

const trySignIn = (
  ctx: TestContext,
  user: TestUser,
  given: { password?: string; ip?: string; replaces?: string } = {},
) => signIn(ctx, { email: user.email, password: user.password, userAgent: '', ip: '192.0.2.1', ...given })

const openSessions = (ctx: TestContext, { userId }: TestUser) =>
  ctx.db.session.findMany({ where: { userId, revokedAt: null }, select: { id: true } })

test('a password that is changed during its check opens no session', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { verify } = ctx.passwords
  ctx.passwords = {
    ...ctx.passwords,
    async verify(hash, password) {
      const correct = await verify(hash, password)
      await setPassword(ctx, { userId: user.userId, password: 'a password of the owner alone' })
      return correct
    },
  }
  expect(await trySignIn(ctx, user)).toBeNull()
  expect(await openSessions(ctx, user)).toEqual([])
})

test('a failed password check does not count as a wrong password', async () => {
  const ctx = await testContext({ signIn: { places: 1, windowMs: 60_000 } })
  const user = await givenUser(ctx)
  const { passwords } = ctx
  ctx.passwords = { ...passwords, verify: () => Promise.reject(new Error('the queue is full')) }
  await expect(trySignIn(ctx, user)).rejects.toThrow('the queue is full')
  ctx.passwords = passwords
  const away = atStatement(ctx, 'user-by-email', () => Promise.reject(new Error('the database is away')))
  await expect(trySignIn(away, user)).rejects.toThrow('the database is away')
  expect(await trySignIn(ctx, user)).toMatchObject({ userId: user.userId })
})

test('a sign-in whose client has gone before its password was checked does not count as a wrong password', async () => {
  const ctx = await testContext({ signIn: { places: 1, windowMs: 60_000 } })
  const user = await givenUser(ctx)
  const gone = { ...ctx, clientGone: () => AbortSignal.abort() }
  await expect(trySignIn(gone, user, { password: 'wrong' })).rejects.toMatchObject({ code: 'SERVER_002' })
  expect(await trySignIn(ctx, user)).toMatchObject({ userId: user.userId })
})

test('a new sign-in ends the session that the same browser held, and no other', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const before = await trySignIn(ctx, user)
  const after = await trySignIn(ctx, user, { replaces: before?.sessionId as string })
  expect((await openSessions(ctx, user)).map(({ id }) => id).sort()).toEqual([user.sessionId, after?.sessionId].sort())
  expect(await trySignIn(ctx, user, { password: 'wrong', replaces: after?.sessionId as string })).toBeNull()
  expect(await openSessions(ctx, user)).toHaveLength(2)
})

test('all addresses of an IPv6 network of 64 bits count as one client', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const guess = (ip: string) => trySignIn(ctx, user, { password: 'wrong', ip })
  for (let n = 1; n <= 10; n++) expect(await guess(`2001:db8:1:2::${n}`)).toBeNull()
  await expect(guess('2001:db8:1:2:ffff::1')).rejects.toMatchObject({ code: 'RATE_001' })
  expect(await guess('2001:db8:1:3::1')).toBeNull()
  expect(await guess('192.0.2.77')).toBeNull()
})
