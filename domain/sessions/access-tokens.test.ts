import { beforeAll, beforeEach, expect, test } from 'vitest'
import * as contract from '@/contract/access'
import type { GrantableScope } from '@/contract/define'
import { authenticate } from '@/testing/account'
import { asUser, givenUser, pass, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { anotherInstance } from '@/testing/install-context'
import { outcomeOf, tally } from '@/testing/outcomes'
import { withdrawAs } from '@/testing/withdrawals'
import type { Context } from '../context'
import { createAccessToken, issueAccessToken, listAccessTokens, revokeAccessToken } from './access-tokens'

const minute = 60 * 1000

// A test below needs plans of tables that were never analysed.
beforeAll(async () => {
  const { db } = await testContext()
  for (const table of ['users', 'sessions', 'access_tokens', 'email_change_requests']) {
    await db.$executeRawUnsafe(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
  }
})
const day = 24 * 60 * minute

const create = async (given: { name?: string; days?: number } = {}, by = user) =>
  createAccessToken(await asUser(ctx, by), {
    userId: by.userId,
    name: given.name ?? 'Nightly export',
    scopes: ['email:manage'],
    expires_in_days: given.days ?? 30,
  })

const listed = async () => (await listAccessTokens(await asUser(ctx, user))).access_tokens

const revoke = async (accessId: string, by = user) =>
  revokeAccessToken(await asUser(ctx, by), { userId: by.userId, accessId })

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

test('a token works for its scopes until it expires, to the millisecond', async () => {
  const token = await create({ days: 7 })
  expect(token).toMatchObject({
    name: 'Nightly export',
    scopes: ['email:manage'],
    created_at: '2026-11-20T09:00:00.000Z',
    expires_at: '2026-11-27T09:00:00.000Z',
    last_used_at: null,
  })
  expect(await authenticate(ctx, token.access_token)).toMatchObject({
    kind: 'access_token',
    id: token.token_id,
    userId: user.userId,
    scopes: ['email:manage'],
  })
  ctx.clock.advance(7 * day - 1)
  expect(await authenticate(ctx, token.access_token)).not.toBeNull()
  ctx.clock.advance(1)
  expect(await authenticate(ctx, token.access_token)).toBeNull()
})

test('a token never has tokens:manage, and a scope that is named twice counts once', async () => {
  const body = { name: 'Greedy', scopes: ['email:manage', 'tokens:manage'], expires_in_days: 30 }
  expect(contract.createAccessToken.body.safeParse(body).error?.issues[0]?.message).toContain('REQUEST_001')
  const scopes: GrantableScope[] = ['account:manage', 'email:manage', 'account:manage']
  const input = { userId: user.userId, name: 'Twice', scopes, expires_in_days: 30 }
  const token = await createAccessToken(await asUser(ctx, user), input)
  const actor = await authenticate(ctx, token.access_token)
  expect(actor?.scopes).toEqual(['account:manage', 'email:manage'])
})

test("the list shows the user's own tokens that still work, newest first", async () => {
  await create({ name: "Somebody else's" }, await givenUser(ctx))
  await create({ name: 'Short', days: 7 })
  ctx.clock.advance(minute)
  await create({ name: 'Long', days: 20 })
  ctx.clock.advance(minute)
  const revoked = await create({ name: 'Revoked' })
  await revoke(revoked.token_id)
  expect((await listed()).map(({ name }) => name)).toEqual(['Long', 'Short'])
  ctx.clock.advance(7 * day)
  expect((await listed()).map(({ name }) => name)).toEqual(['Long'])
})

test('a revoked token is refused at once, and none is revoked twice or by another user', async () => {
  const [token, other] = [await create(), await create()]
  expect(await authenticate(ctx, token.access_token)).not.toBeNull()
  expect(await revoke(token.token_id)).toEqual({ token_id: token.token_id, revoked: true })
  expect(await authenticate(ctx, token.access_token)).toBeNull()
  expect(await authenticate(ctx, other.access_token)).not.toBeNull()
  for (const id of [token.token_id, 'tok_0000000000000000000000']) {
    expect(await outcomeOf(revoke(id))).toBe('REQUEST_005')
  }
  expect(await outcomeOf(revoke(other.token_id, await givenUser(ctx)))).toBe('REQUEST_005')
  expect(await authenticate(ctx, other.access_token)).not.toBeNull()
})

test('creating and revoking a token is audited, without the token or its name', async () => {
  const token = await create()
  await revoke(token.token_id)
  const events = await ctx.db.auditEvent.findMany({ where: { subjectId: token.token_id }, orderBy: { action: 'asc' } })
  expect(events.map(({ action, userId, actor }) => ({ action, userId, actor }))).toEqual([
    { action: 'access_token.created', userId: user.userId, actor: 'session' },
    { action: 'access_token.revoked', userId: user.userId, actor: 'session' },
  ])
  expect(JSON.stringify(events)).not.toMatch(/uat_|Nightly export/)
})

const letters = () => ctx.mailbox.filter(({ to }) => to === user.email).map(({ message }) => message)

test('B135 the address is told of a token that the person creates, also where the mail server is away, and never of the token itself', async () => {
  ctx.mailServer.accepts = false
  const token = await create()
  await ctx.settle()
  const [notice] = await ctx.db.notice.findMany({ where: { userId: user.userId } })
  expect(notice).toMatchObject({ kind: 'access_token_created', sentAt: null, dueAt: expect.any(Date) })
  for (const text of [user.email, 'Nightly', '192.0.2.1', token.access_token]) {
    expect(Buffer.from(notice?.sealed ?? []).includes(text)).toBe(false)
  }
  expect(letters()).toEqual([])
  ctx.mailServer.accepts = true
  await pass(ctx, minute)
  expect(letters()).toMatchObject([
    {
      template: 'access-token-created',
      hasPassword: true,
      createdAt: new Date(token.created_at),
      expiresAt: new Date(token.expires_at),
      ...{ tokenName: 'Nightly export', scopes: ['email:manage'] },
      tokensUrl: `${ctx.appUrl}/settings/access-tokens`,
    },
  ])
  expect(JSON.stringify(letters())).not.toContain(token.access_token)
})

test('B135 an unverified address, which may be of a stranger, is told of no token', async () => {
  await ctx.db.user.update({ where: { id: user.userId }, data: { emailVerifiedAt: null } })
  await create()
  expect(await ctx.db.notice.count({ where: { userId: user.userId } })).toBe(0)
})

test('B135 ten new tokens of a day are told, also where they are revoked at once, and the next day again', async () => {
  for (let made = 0; made < 11; made++) await revoke((await create()).token_id)
  expect(await ctx.db.notice.count({ where: { userId: user.userId } })).toBe(10)
  const dayBefore = new Date(ctx.clock.now().getTime() - day)
  await ctx.db.accessToken.updateMany({ where: { userId: user.userId }, data: { createdAt: dayBefore } })
  await create()
  expect(await ctx.db.notice.count({ where: { userId: user.userId } })).toBe(11)
})

test('B135 no letter tells of a token that the operator made, or that was refused', async () => {
  const made = { userId: user.userId, name: 'cli', scopes: [], expiresInMs: day, actor: 'operator' }
  await issueAccessToken(ctx, made)
  ctx.clock.advance(11 * minute)
  expect(await outcomeOf(create())).toBe('REAUTH_001')
  expect(await ctx.db.notice.count({ where: { userId: user.userId } })).toBe(0)
})

test('B135 a letter that still waits does not go out after a withdrawal', async () => {
  ctx.mailServer.accepts = false
  await create()
  await ctx.settle()
  await withdrawAs(ctx, user)
  ctx.mailServer.accepts = true
  await pass(ctx, minute)
  expect(letters().map(({ template }) => template)).toEqual(['account-withdrawal-started'])
})

test('the last use of a token is recorded to the minute', async () => {
  const { access_token } = await create()
  const useAfter = async (ms: number) => {
    ctx.clock.advance(ms)
    await authenticate(ctx, access_token)
    await ctx.settle()
    return (await listed())[0]?.last_used_at
  }
  expect((await listed())[0]?.last_used_at).toBeNull()
  expect(await useAfter(minute)).toBe('2026-11-20T09:01:00.000Z')
  expect(await useAfter(minute - 1)).toBe('2026-11-20T09:01:00.000Z')
  expect(await useAfter(2)).toBe('2026-11-20T09:02:00.001Z')
})

test('parallel calls over several instances never create more than a hundred tokens, and revoking one makes room for another', async () => {
  const instances = [ctx, await anotherInstance(ctx)]
  const first = await create()
  const { id, ...row } = await ctx.db.accessToken.findUniqueOrThrow({ where: { id: first.token_id } })
  await ctx.db.accessToken.createMany({
    data: Array.from({ length: 89 }, (_, n) => ({ ...row, id: `${id}${n}`, tokenHash: Buffer.from(`${id}${n}`) })),
  })
  const callers = await Promise.all(instances.map((instance) => asUser(instance, user)))
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      const input = { userId: user.userId, name: `Parallel ${n}`, scopes: ['email:manage' as const] }
      const caller = callers[n % callers.length] as Context
      return outcomeOf(
        n % 4 === 0
          ? issueAccessToken(caller, { ...input, expiresInMs: day, actor: 'operator' })
          : createAccessToken(caller, { ...input, expires_in_days: 30 }),
      )
    }),
  )
  expect(tally(outcomes)).toEqual({ accepted: 10, REQUEST_001: 30 })
  expect(await listed()).toHaveLength(100)
  await revoke(first.token_id)
  expect(await outcomeOf(create())).toBe('accepted')
})
