import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { givenUser, type TestContext, testContext } from '@/testing/domain'
import { authenticateSession } from './authenticate'
import { signInWithProvider } from './sign-in-with-provider'

const client = { userAgent: 'test', ip: '192.0.2.1' }

async function givenLinked(ctx: TestContext) {
  const user = await givenUser(ctx)
  const externalId = `crm-${randomBytes(6).toString('hex')}`
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId, passwordHash: null } })
  return { ...user, externalId }
}

const signIn = (ctx: TestContext, subject: string, said: { authenticatedAt?: Date; acr?: string } = {}) =>
  signInWithProvider(ctx, { subject, authenticatedAt: null, acr: null, ...said, ...client })

test('a sign-in at the provider opens the account with exactly this external id, and never one by its address', async () => {
  const ctx = await testContext()
  const user = await givenLinked(ctx)
  expect(await signIn(ctx, user.externalId)).toMatchObject({ userId: user.userId })
  const { externalId, email, userId } = user
  for (const subject of [email, userId, externalId.toUpperCase(), ` ${externalId}`, `${externalId}\0`, '', 'nobody']) {
    expect({ subject, signedIn: await signIn(ctx, subject) }).toEqual({ subject, signedIn: null })
  }
})

test('a withdrawn account cannot be signed in to', async () => {
  const ctx = await testContext()
  const { userId, externalId } = await givenLinked(ctx)
  await ctx.db.user.update({ where: { id: userId }, data: { withdrawnAt: ctx.clock.now() } })
  expect(await signIn(ctx, externalId)).toBeNull()
})

test('a session is as fresh as auth_time says, and never fresh if it is missing, in the future or of another acr', async () => {
  const ctx = await testContext()
  const { externalId } = await givenLinked(ctx)
  const now = ctx.clock.now().getTime()
  const freshness = async (said: Parameters<typeof signIn>[2]) => {
    const signedIn = await signIn(ctx, externalId, said)
    return (await authenticateSession(ctx, signedIn?.sessionId ?? ''))?.authenticatedAt
  }
  const hourAgo = new Date(now - 3_600_000)
  expect(await freshness({ authenticatedAt: hourAgo })).toEqual(hourAgo)
  expect(await freshness({})).toBeNull()
  expect(await freshness({ authenticatedAt: new Date(now + 60_000) })).toEqual(new Date(now + 60_000))
  expect(await freshness({ authenticatedAt: new Date(now + 60_001) })).toBeNull()
  ctx.freshSignIn.requiredAcr = 'urn:acme:mfa'
  expect(await freshness({ authenticatedAt: hourAgo })).toBeNull()
  expect(await freshness({ authenticatedAt: hourAgo, acr: 'urn:acme:mfa' })).toEqual(hourAgo)
})

test('a sign-in ends the session that the browser held', async () => {
  const ctx = await testContext()
  const { externalId, sessionId: replaces } = await givenLinked(ctx)
  await signInWithProvider(ctx, { subject: externalId, authenticatedAt: null, acr: null, replaces, ...client })
  expect(await authenticateSession(ctx, replaces)).toBeNull()
})
