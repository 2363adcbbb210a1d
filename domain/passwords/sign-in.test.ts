import { beforeEach, expect, test } from 'vitest'
import { signInAs } from '@/testing/account'
import { givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { atStatement } from '@/testing/statements'
import { setPassword } from '../accounts/user'

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

const openSessions = async () =>
  (await ctx.db.session.findMany({ where: { userId: user.userId, revokedAt: null } })).map(({ id }) => id)

test('a password that is changed during its check opens no session', async () => {
  const { verify } = ctx.passwords
  ctx.passwords = {
    ...ctx.passwords,
    async verify(hash, password) {
      const correct = await verify(hash, password)
      await setPassword(ctx, { userId: user.userId, password: 'a password of the owner alone' })
      return correct
    },
  }
  expect(await signInAs(ctx, user)).toBeNull()
  expect(await openSessions()).toEqual([])
})

test('a failed password check does not count as a wrong password', async () => {
  ctx.limits.signIn = { places: 1, windowMs: 60_000 }
  const { passwords } = ctx
  ctx.passwords = { ...passwords, verify: () => Promise.reject(new Error('the queue is full')) }
  await expect(signInAs(ctx, user)).rejects.toThrow('the queue is full')
  ctx.passwords = passwords
  const away = atStatement(ctx, 'user-by-email', () => Promise.reject(new Error('the database is away')))
  await expect(signInAs(away, user)).rejects.toThrow('the database is away')
  expect(await signInAs(ctx, user)).toMatchObject({ userId: user.userId })
})

test('a sign-in whose client has gone before its password was checked does not count as a wrong password', async () => {
  ctx.limits.signIn = { places: 1, windowMs: 60_000 }
  const gone = { ...ctx, clientGone: () => AbortSignal.abort() }
  await expect(signInAs(gone, { ...user, password: 'wrong' })).rejects.toMatchObject({ code: 'SERVER_002' })
  expect(await signInAs(ctx, user)).toMatchObject({ userId: user.userId })
})

test('a new sign-in ends the session that the same browser held, and no other', async () => {
  const before = await signInAs(ctx, user)
  const after = await signInAs(ctx, user, { replaces: before?.sessionId })
  expect((await openSessions()).sort()).toEqual([user.sessionId, after?.sessionId].sort())
  expect(await signInAs(ctx, { ...user, password: 'wrong' }, { replaces: after?.sessionId })).toBeNull()
  expect(await openSessions()).toHaveLength(2)
})

test('all addresses of an IPv6 network of 64 bits count as one client', async () => {
  const guess = (ip: string) => signInAs(ctx, { ...user, password: 'wrong' }, { ip })
  for (let n = 1; n <= 10; n++) expect(await guess(`2001:db8:1:2::${n}`)).toBeNull()
  await expect(guess('2001:db8:1:2:ffff::1')).rejects.toMatchObject({ code: 'RATE_001' })
  expect(await guess('2001:db8:1:3::1')).toBeNull()
  expect(await guess('192.0.2.77')).toBeNull()
})
