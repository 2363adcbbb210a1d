import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { authenticateSession } from './authenticate'
import { signInWithProvider } from './sign-in-with-provider'

const client = { userAgent: 'test', ip: '192.0.2.1' }

let ctx: TestContext
let user: TestUser
let externalId: string

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
  externalId = `crm-${randomBytes(6).toString('hex')}`
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId, passwordHash: null } })
})

const signIn = (subject = externalId, said: { authenticatedAt?: Date; acr?: string; replaces?: string } = {}) =>
  signInWithProvider(ctx, { subject, authenticatedAt: null, acr: null, ...said, ...client })

test('a sign-in at the provider opens the account with exactly this external id, and never one by its address', async () => {
  const { email, userId } = user
  expect(await signIn()).toMatchObject({ userId })
  for (const subject of [email, userId, externalId.toUpperCase(), ` ${externalId}`, `${externalId}\0`, '', 'nobody']) {
    expect({ subject, signedIn: await signIn(subject) }).toEqual({ subject, signedIn: null })
  }
})

test('a withdrawn account cannot be signed in to', async () => {
  await ctx.db.user.update({ where: { id: user.userId }, data: { withdrawnAt: ctx.clock.now() } })
  expect(await signIn()).toBeNull()
})

test('a session is as fresh as auth_time says, and never fresh if it is missing, in the future or of another acr', async () => {
  const now = ctx.clock.now().getTime()
  const freshness = async (said: Parameters<typeof signIn>[1]) => {
    const signedIn = await signIn(externalId, said)
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
  await signIn(externalId, { replaces: user.sessionId })
  expect(await authenticateSession(ctx, user.sessionId)).toBeNull()
})
