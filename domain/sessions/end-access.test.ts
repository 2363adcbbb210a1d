import { beforeEach, expect, test } from 'vitest'
import { resetPassword } from '@/testing/account'
import { type Asking, type Caller, call, change, hour, minute, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange, givenPage, givenServiceOf, givenServiceToken, givenToken } from '@/testing/callers'
import { givenSession, pass } from '@/testing/domain'
import { linkTo, redeem } from '@/testing/not-me'
import { heldUp } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { givenService, type Service, trustIssuer } from '@/testing/service'
import { setPassword } from '../accounts/user'
import { NO_ACCOUNT } from '../context'
import { revokeAllTokens } from './access-tokens'
import { isStillLive } from './live-caller'
import { createSessionToken } from './page-tokens'
import { endAllSessions } from './sessions'

const second = 1000
const NEW = 'a password of the owner alone'

/** An outside issuer whose token for this subject says that it was issued then: `at.<milliseconds>.x`, not at all, or nonsense. */
const givenIssuer = (ctx: Service, subject: string, subjectIs?: 'user_id' | 'external_id') =>
  trustIssuer(
    ctx,
    (token) => ({ subject, issuedAt: token === SILENT ? null : new Date(Number(token.split('.')[1])) }),
    subjectIs,
  )
/** The `iat` of an issuer is the whole second before. */
const issuedAt = (at: Date | number) => `at.${Math.floor(Number(at) / second) * second}.x`
const SILENT = 'at.silent.x'
const ODD = 'at.odd.x'

/** How a page of this session calls. */
const sessionOf = (ctx: Service, { sessionId }: Caller) => ({ token: createSessionToken(ctx, sessionId).token })

const opens = async (caller: Caller, by: string | Asking) => {
  const { code } = await call(caller, 'getEmailStatus', typeof by === 'string' ? { token: by } : by)
  return code === 'accepted' || code
}

async function changePassword(ctx: Service, caller: Caller) {
  const body = { current_password: caller.password, new_password: NEW }
  expect((await call(caller, 'changePassword', { ...sessionOf(ctx, caller), body })).code).toBe('accepted')
}

async function endOthers(ctx: Service, caller: Caller) {
  expect((await call(caller, 'endOtherSessions', sessionOf(ctx, caller))).code).toBe('accepted')
}

async function undo(ctx: Service, caller: Caller) {
  const { id, code } = await givenChange(ctx, caller, `thief-${caller.email}`)
  expect((await verify(caller, id, code)).code).toBe('accepted')
  await ctx.settle()
  expect((await redeem(linkTo(ctx, caller.email))).code).toBe('accepted')
}

async function endByService(ctx: Service, caller: Caller) {
  const service = await givenServiceOf(ctx, caller)
  expect((await service('endUserSessions')).code).toBe('accepted')
}

const ENDERS: [string, (ctx: Service, caller: Caller) => Promise<unknown>][] = [
  ['a change of the password', changePassword],
  ['a reset of the password', (ctx, caller) => resetPassword(ctx, caller, NEW)],
  ['a password that the operator sets', (ctx, { userId }) => setPassword(ctx, { userId, password: NEW })],
  ['an undo', undo],
  ['signing out everywhere else', endOthers],
  ['the command that ends all sessions', (ctx, { userId }) => endAllSessions(ctx, userId)],
  ['the command that revokes all tokens', (ctx, { userId }) => revokeAllTokens(ctx, userId)],
  ['a service that ends all sessions', endByService],
]

let ctx: Service
let caller: Caller

beforeEach(async () => {
  ctx = await givenService()
  caller = await givenCaller(ctx)
})

test.each(ENDERS)(
  '%s refuses outside tokens that were issued before, or in the same second, or do not say when',
  async (_, end) => {
    givenIssuer(ctx, caller.userId)
    const before = issuedAt(ctx.clock.now())
    ctx.clock.advance(minute + 300)
    for (const token of [before, SILENT, ODD]) expect(await opens(caller, token)).toBe(true)
    await end(ctx, caller)
    await ctx.settle()
    const ended = ctx.clock.now()
    ctx.clock.advance(minute)
    for (const token of [before, issuedAt(ended), SILENT, ODD]) expect(await opens(caller, token)).toBe('AUTH_001')
    expect((await withdraw(caller, { token: before })).code).toBe('AUTH_001')
    expect(await opens(caller, issuedAt(ended.getTime() + second))).toBe(true)
  },
)

test.each(ENDERS)(
  'L31 %s ends every page token that was issued before, and none that is issued after',
  async (_, end) => {
    const before = await givenPage(ctx, caller)
    expect(await opens(caller, before)).toBe(true)
    await end(ctx, caller)
    await ctx.settle()
    expect(await opens(caller, before)).toBe('AUTH_001')
    expect((await withdraw(caller, before)).code).toBe('AUTH_001')
    // No time passes, so that no clock decides.
    const after = await givenPage(ctx, caller)
    expect(await opens(caller, after)).toBe(true)
    await endAllSessions(ctx, caller.userId)
    expect(await opens(caller, after)).toBe('AUTH_001')
  },
)

test('a new password ends page tokens, also where other tokens are kept; an earlier clock ends them too', async () => {
  const first = await givenPage(ctx, caller)
  await setPassword(ctx, { userId: caller.userId, password: NEW, keepTokens: true })
  expect([await opens(caller, first), await opens(caller, caller.token)]).toEqual(['AUTH_001', true])
  await revokeAllTokens(ctx, caller.userId)
  const second = await givenPage(ctx, caller)
  ctx.clock.advance(-minute)
  await endAllSessions(ctx, caller.userId)
  expect(await opens(caller, second)).toBe('AUTH_001')
})

test('--keep-tokens keeps outside tokens too, and opens no door that was closed before', async () => {
  givenIssuer(ctx, caller.userId)
  const first = issuedAt(ctx.clock.now())
  ctx.clock.advance(second)
  await setPassword(ctx, { userId: caller.userId, password: NEW, keepTokens: true })
  expect([await opens(caller, first), await opens(caller, caller.token)]).toEqual([true, true])
  await revokeAllTokens(ctx, caller.userId)
  ctx.clock.advance(second)
  await setPassword(ctx, { userId: caller.userId, password: NEW, keepTokens: true })
  expect(await opens(caller, first)).toBe('AUTH_001')
  expect(await opens(caller, issuedAt(ctx.clock.now()))).toBe(true)
})

test('one ended session, one revoked token and a verified change leave outside tokens and page tokens alone', async () => {
  const { id: accessId } = await givenToken(ctx, caller.userId)
  givenIssuer(ctx, caller.userId)
  const token = issuedAt(ctx.clock.now())
  const adopters = await givenPage(ctx, caller)
  ctx.clock.advance(minute)
  const page = sessionOf(ctx, caller)
  expect((await call(caller, 'revokeAccessToken', { ...page, ids: { accessId } })).code).toBe('accepted')
  const { id, code } = await givenChange(ctx, caller)
  expect((await verify(caller, id, code)).code).toBe('accepted')
  const ids = { sessionId: caller.sessionId }
  await call(caller, 'endSession', { ...page, ids })
  expect([await opens(caller, token), await opens(caller, adopters)]).toEqual([true, true])
})

test.each(['user_id', 'external_id'] as const)(
  'an outside token that is older than the account opens nothing, and one of the same second does (%s)',
  async (subjectIs) => {
    ctx.clock.advance(400)
    const caller = await givenCaller(ctx)
    await ctx.db.user.update({ where: { id: caller.userId }, data: { externalId: `ext-${caller.userId}` } })
    givenIssuer(ctx, subjectIs === 'user_id' ? caller.userId : `ext-${caller.userId}`, subjectIs)
    const created = ctx.clock.now().getTime()
    expect(await opens(caller, issuedAt(created - second))).toBe('AUTH_001')
    expect((await withdraw(caller, { token: issuedAt(created - second) })).code).toBe('AUTH_001')
    expect(await opens(caller, issuedAt(created))).toBe(true)
  },
)

/** A withdrawn account of a service, which its applications have been told of. */
async function givenFormer(ctx: Service) {
  const service = await givenServiceToken(ctx)
  const externalId = ctx.secrets.randomId('customer-')
  const ids = { externalId }
  const person = { email: `${externalId}@example.test`, name: 'Ada' }
  expect((await call(service, 'putUser', { ids, body: person })).code).toBe('accepted')
  ctx.clock.advance(minute)
  const old = issuedAt(ctx.clock.now())
  ctx.clock.advance(second)
  const body = { confirmation: 'DELETE_MY_ACCOUNT', requested_by: 'support' }
  expect((await call(service, 'withdrawUser', { ids, body })).code).toBe('accepted')
  await pass(ctx, hour)
  const recreate = async (more: object) => {
    const { code, data } = await call(service, 'putUser', { ids, body: { recreate: true, ...more } })
    expect(code).toBe('accepted')
    return String(data.user_id)
  }
  return { service, externalId, person, old, recreate }
}

test.each([
  ['created anew', false],
  ['that was there before and gets the external id', true],
] as const)('an outside token of a former account opens nothing of the account %s', async (_, named) => {
  const other = await givenCaller(ctx)
  const { externalId, person, old, recreate } = await givenFormer(ctx)
  givenIssuer(ctx, externalId, 'external_id')
  const caller = { ...other, userId: await recreate(named ? { user_id: other.userId } : person) }
  for (const token of [old, SILENT]) {
    expect(await opens(caller, token)).toBe('AUTH_001')
    expect((await change(caller, `new-${person.email}`, { token })).code).toBe('AUTH_001')
    expect((await withdraw(caller, { token })).code).toBe('AUTH_001')
  }
  expect(await opens(caller, issuedAt(ctx.clock.now()))).toBe(true)
})

test('an ended outside token of a person who came back is not told that the account was withdrawn; one of before is', async () => {
  const { service, externalId, person, old, recreate } = await givenFormer(ctx)
  givenIssuer(ctx, externalId, 'external_id')
  await recreate(person)
  const caller = { ...(await givenCaller(ctx)), userId: encodeURIComponent(`~${externalId}`) }
  const token = issuedAt(ctx.clock.now())
  ctx.clock.advance(minute)
  await call(service, 'endUserSessions', { ids: { externalId } })
  expect((await withdraw(caller, { token })).code).toBe('AUTH_001')
  expect((await withdraw(caller, { token: old })).code).toBe('WITHDRAWAL_002')
})

test('a person who comes back within the second of the outside token that withdrew the account is withdrawn by it again', async () => {
  const service = await givenServiceToken(ctx)
  const externalId = ctx.secrets.randomId('customer-')
  const body = { email: `${externalId}@example.test`, name: 'Ada', recreate: true }
  givenIssuer(ctx, externalId, 'external_id')
  const caller = { ...(await givenCaller(ctx)), userId: encodeURIComponent(`~${externalId}`) }
  const token = issuedAt(ctx.clock.now())
  for (let times = 0; times < 2; times++) {
    expect((await call(service, 'putUser', { ids: { externalId }, body })).status).toBe(201)
    const { code, data } = await withdraw(caller, { token })
    expect(code).toBe('accepted')
    const ids = { withdrawalId: String(data.withdrawal_id) }
    expect((await call(caller, 'getWithdrawalStatus', { token, ids })).code).toBe('accepted')
  }
})

test('B117 an outside token that had ended before the withdrawal is not told of it; one that the withdrawal ended is', async () => {
  givenIssuer(ctx, caller.userId)
  // A token's text must be its own, because ended ones are found by it.
  const issue = () => issuedAt(ctx.clock.now()) + ctx.secrets.randomId('')
  const ended = issue()
  ctx.clock.advance(minute)
  await endAllSessions(ctx, caller.userId)
  ctx.clock.advance(minute)
  const [used, open] = [issue(), issue()]
  expect((await withdraw(caller, { token: used })).code).toBe('accepted')
  expect((await withdraw(caller, { token: ended })).code).toBe('AUTH_001')
  expect((await withdraw(caller, { token: open })).code).toBe('WITHDRAWAL_002')
})

test('an account that takes over the external id of a former one opens nothing to a token that has just ended', async () => {
  const { recreate } = await givenFormer(ctx)
  const caller = await givenCaller(ctx)
  givenIssuer(ctx, caller.userId)
  ctx.clock.advance(minute + 300)
  const token = issuedAt(ctx.clock.now())
  await revokeAllTokens(ctx, caller.userId)
  await recreate({ user_id: caller.userId })
  expect(await opens(caller, token)).toBe('AUTH_001')
})

const END_ALL = 'UPDATE users SET credentials_since = $2 WHERE id = $1'
test.each([
  ['a withdrawal', 'a session', 'UPDATE sessions SET revoked_at = $2 WHERE user_id = $1'],
  ['a withdrawal', 'an access token', 'UPDATE access_tokens SET revoked_at = $2 WHERE user_id = $1'],
  ['a withdrawal', 'an outside token', END_ALL],
  ['a withdrawal', 'a page token', END_ALL],
  ['a change', 'an outside token', END_ALL],
  ['a change', 'a page token', END_ALL],
])('%s that waits for the account is refused when its credential, %s, ends meanwhile', async (what, kind, end) => {
  givenIssuer(ctx, caller.userId)
  const outside = issuedAt(ctx.clock.now())
  ctx.clock.advance(second)
  const by: Record<string, Asking> = {
    'a session': sessionOf(ctx, caller),
    'an outside token': { token: outside },
    'a page token': await givenPage(ctx, caller, { authenticated_at: ctx.clock.now().toISOString() }),
  }
  const answer = await heldUp(
    ctx,
    ['users', caller.userId],
    () => (what === 'a change' ? change(caller, `new-${caller.email}`, by[kind]) : withdraw(caller, by[kind])),
    (sql) => rawSql(sql, end, [caller.userId, ctx.clock.now()]),
  )
  expect(answer.code).toBe('AUTH_001')
  expect(await ctx.db.withdrawal.count({ where: { userId: caller.userId } })).toBe(0)
  expect(await ctx.db.emailChangeRequest.count({ where: { userId: caller.userId } })).toBe(0)
})

test.each(['endOtherSessions', 'exportData', 'createAccessToken'] as const)(
  '%s is refused when its session ends while it waits for the account',
  async (operation) => {
    const own = await givenSession(ctx, caller.userId)
    const answer = await heldUp(
      ctx,
      ['users', caller.userId],
      () => call(caller, operation, sessionOf(ctx, caller)),
      (sql) => rawSql(sql, 'UPDATE sessions SET revoked_at = $2 WHERE id = $1', [caller.sessionId, ctx.clock.now()]),
    )
    expect(answer.code).toBe('AUTH_001')
    expect(await ctx.db.session.count({ where: { id: own, revokedAt: null } })).toBe(1)
    const action = { in: ['session.others_revoked', 'data.exported', 'access_token.created'] }
    expect(await ctx.db.auditEvent.count({ where: { userId: caller.userId, actor: 'session', action } })).toBe(0)
  },
)

test('of two ends of access the later one counts, whichever is written last', async () => {
  givenIssuer(ctx, caller.userId)
  ctx.clock.advance(minute)
  await revokeAllTokens(ctx, caller.userId)
  const token = issuedAt(ctx.clock.now())
  ctx.clock.advance(-2 * second)
  await endAllSessions(ctx, caller.userId)
  expect(await opens(caller, token)).toBe('AUTH_001')
})

test('a write judges an outside token as the look-up of its caller does', async () => {
  ctx.clock.advance(300)
  const caller = await givenCaller(ctx)
  givenIssuer(ctx, caller.userId)
  const { userId } = caller
  const created = ctx.clock.now().getTime()
  const since = created + minute
  const actor = { ...NO_ACCOUNT, kind: 'outside_token' as const, id: '', userId, scopes: [] }
  const rowless = { hash: Buffer.alloc(0), expiresAt: new Date(0), authenticatedAt: null, acr: null }
  for (const credentialsSince of [null, new Date(since), new Date(since - 300)]) {
    await ctx.db.user.update({ where: { id: userId }, data: { credentialsSince } })
    for (const at of [created - 301, created - 300, created, since - 301, since - 300, since, since + 1, null]) {
      const token = at === null ? SILENT : `at.${at}.x`
      const issuedAt = at === null ? null : new Date(at)
      const isLive = await isStillLive(ctx, { ...actor, rowless: { ...rowless, issuedAt } })
      expect([at, isLive]).toEqual([at, (await opens(caller, token)) === true])
    }
  }
})
