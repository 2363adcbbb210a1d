import { beforeEach, expect, test } from 'vitest'
import { setRole } from '@/domain/accounts/operators'
import { codeSentTo } from '@/testing/account'
import { type Asking, type Caller, call, change, hour, minute, resend, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange, givenPage, givenServiceToken } from '@/testing/callers'
import { PAGE_ORIGIN, pass, type TestContext } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { heldUp } from '@/testing/outcomes'
import { revokeServiceToken } from './service-tokens'

let ctx: TestContext
let caller: Caller
beforeEach(async () => {
  ctx = await installed()
  caller = await givenCaller(ctx)
})

const status = async (asking: Asking) => (await call(caller, 'getEmailStatus', asking)).code
const now = (ms = 0) => new Date(ctx.clock.now().getTime() + ms).toISOString()
const preview = { query: '?analytics=false&audit_logs=false&transaction_history=false' }

test('L28 a page token opens the paths of its person within its scopes, and makes no access token', async () => {
  const page = await givenPage(ctx, caller)
  const { data, code } = await change(caller, `new-${caller.email}`, page)
  expect(code).toBe('accepted')
  expect(await status(page)).toBe('accepted')
  expect((await call(caller, 'previewWithdrawal', { ...page, ...preview })).code).toBe('accepted')
  const ids = { changeRequestId: String(data.change_request_id) }
  expect((await call(caller, 'cancelEmailChange', { ...page, ids })).code).toBe('accepted')
  const { id, code: mailed } = await givenChange(ctx, caller, `other-${caller.email}`)
  expect((await verify(caller, id, mailed, page)).code).toBe('accepted')
  expect(await status(page)).toBe('accepted')

  for (const name of [
    'createAccessToken',
    'listAccessTokens',
    'listSessions',
    'endOtherSessions',
    'startReauthentication',
    'getUser',
    'putUser',
    'issuePageToken',
  ]) {
    expect([name, (await call(caller, name, { ...page, ids: { externalId: `ext-${caller.userId}` } })).code]).toEqual([
      name,
      'AUTH_002',
    ])
  }
  const narrow = await givenPage(ctx, caller, { scopes: ['account:manage'] })
  expect(await status(narrow)).toBe('AUTH_002')
  expect((await call(caller, 'previewWithdrawal', { ...narrow, ...preview })).code).toBe('accepted')
  const stranger = await givenCaller(ctx)
  expect((await call(stranger, 'getEmailStatus', page)).code).toBe('AUTH_002')
  expect((await call({ userId: `~ext-${caller.userId}` }, 'getEmailStatus', page)).code).toBe('accepted')
})

test('L29 a page token is refused without its exact origin, after its end, and when a character of it was changed', async () => {
  const { token, headers } = await givenPage(ctx, caller)
  expect(await status({ token })).toBe('AUTH_001')
  const others = ['null', '', `${PAGE_ORIGIN}/`, `${PAGE_ORIGIN}:443`, `${PAGE_ORIGIN}.evil.test`]
  for (const origin of [...others, PAGE_ORIGIN.toUpperCase(), `${PAGE_ORIGIN}, ${PAGE_ORIGIN}`]) {
    expect([origin, await status({ token, headers: { Origin: origin } })]).toEqual([origin, 'AUTH_001'])
  }
  const [head = '', expires = '', mac = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(head.slice(4), 'base64url').toString())
  const withClaims = (more: object) =>
    `pgt_${Buffer.from(JSON.stringify({ ...claims, ...more })).toString('base64url')}.${expires}.${mac}`
  const stranger = await givenCaller(ctx)
  const bad = [
    withClaims({ userId: stranger.userId }),
    withClaims({ origin: 'https://evil.test' }),
    withClaims({ scopes: ['tokens:manage'] }),
    withClaims({ authenticatedAt: 0 }),
    withClaims({ acr: 'urn:acme:mfa' }),
    withClaims({ issuedBy: undefined }),
    withClaims({ version: 1 }),
    `${head}.${Number(expires) + 60}.${mac}`,
    `${head}.${expires}.${mac.slice(0, -1)}`,
    `${head}.${expires}`,
    `${head}.${expires}.`,
    `pst_${token.slice(4)}`,
    token.slice(4),
    `${token}A`,
    `pgt_.${expires}.${mac}`,
    ...Array.from({ length: 20 }, (_, n) => {
      const at = 4 + Math.floor((n * (token.length - 4)) / 20)
      return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
    }),
  ]
  for (const one of bad) expect([one, await status({ token: one, headers })]).toEqual([one, 'AUTH_001'])
  ctx.clock.advance(15 * minute - 1)
  expect(await status({ token, headers })).toBe('accepted')
  ctx.clock.advance(1)
  expect(await status({ token, headers })).toBe('AUTH_001')
})

test('authenticated_at is the fresh sign-in of a page token for ten minutes, and without one it is never fresh', async () => {
  await ctx.db.user.update({ where: { id: caller.userId }, data: { passwordHash: null } })
  const ask = (asking: Asking) =>
    change(caller, `new-${caller.email}`, {
      body: { new_email: `new-${caller.email}`, reauthentication: 'fresh_sign_in' },
      ...asking,
    })
  const never = await givenPage(ctx, caller)
  for (const refused of [await ask(never), await withdraw(caller, never)]) {
    expect([refused.code, refused.headers.get('WWW-Authenticate')]).toEqual([
      'REAUTH_001',
      'Bearer error="insufficient_user_authentication", max_age=600',
    ])
  }
  const old = await givenPage(ctx, caller, { authenticated_at: now(-10 * minute - 1) })
  expect((await withdraw(caller, old)).code).toBe('REAUTH_001')
  const fresh = await givenPage(ctx, caller, { authenticated_at: now(-10 * minute) })
  expect((await ask(fresh)).code).toBe('accepted')
  ctx.clock.advance(1)
  expect((await withdraw(caller, fresh)).code).toBe('REAUTH_001')
  const ahead = await givenPage(ctx, caller, { authenticated_at: now(minute) })
  expect((await withdraw(caller, ahead)).code).toBe('accepted')
})

test('B65 where an acr is required, a page token without exactly that one is no fresh sign-in', async () => {
  ctx.freshSignIn = { maxOutsideAgeMs: null, requiredAcr: 'urn:acme:mfa' }
  for (const acr of [undefined, 'urn:acme:password', 'URN:acme:mfa', 'urn:acme:mfa ']) {
    const weak = await givenPage(ctx, caller, { authenticated_at: now(), acr })
    const refused = await withdraw(caller, weak)
    expect([acr, refused.code, refused.headers.get('WWW-Authenticate')]).toEqual([
      acr,
      'REAUTH_001',
      'Bearer error="insufficient_user_authentication", max_age=600, acr_values="urn:acme:mfa"',
    ])
    expect(await status(weak)).toBe('accepted')
  }
  const timeless = await givenPage(ctx, caller, { acr: 'urn:acme:mfa' })
  expect((await withdraw(caller, timeless)).code).toBe('REAUTH_001')
  const strong = await givenPage(ctx, caller, { authenticated_at: now(), acr: 'urn:acme:mfa' })
  expect((await withdraw(caller, strong)).code).toBe('accepted')
})

/** A service token that lives a quarter of an hour, and a page token that it has made. */
async function givenIssued(more: object = {}) {
  const service = await givenServiceToken(ctx, ['pages:issue'], 15 * minute)
  await ctx.db.user.update({ where: { id: caller.userId }, data: { externalId: `ext-${caller.userId}` } })
  return { service, page: await givenPageOf(service, more) }
}

async function givenPageOf(service: Awaited<ReturnType<typeof givenServiceToken>>, more: object = {}) {
  const body = { scopes: ['email:manage', 'account:manage'], origin: PAGE_ORIGIN, ...more }
  const { data } = await call(service, 'issuePageToken', { ids: { externalId: `ext-${caller.userId}` }, body })
  return { token: String(data.page_token), headers: { Origin: PAGE_ORIGIN } }
}

test('B65 a page token ends with the service token that issued it, and with no other', async () => {
  const [revoked, other] = [await givenIssued(), await givenIssued()]
  await revokeServiceToken(ctx, revoked.service.id)
  expect([await status(revoked.page), await status(other.page)]).toEqual(['AUTH_001', 'accepted'])

  ctx.clock.advance(14 * minute)
  const late = await givenPageOf(other.service)
  ctx.clock.advance(minute - 1)
  expect(await status(late)).toBe('accepted')
  ctx.clock.advance(1)
  expect(await status(late)).toBe('AUTH_001')
})

test('B65 a write is refused whose service token is revoked while the call waits for the account', async () => {
  const { service, page } = await givenIssued({ authenticated_at: now() })
  const waited = await heldUp(
    ctx,
    ['users', caller.userId],
    () => withdraw(caller, page),
    () => revokeServiceToken(ctx, service.id),
  )
  expect(waited.code).toBe('AUTH_001')
  expect(await ctx.db.withdrawal.count({ where: { userId: caller.userId } })).toBe(0)
})

test('B65 after a withdrawal a page token whose service token was revoked is not even told of it', async () => {
  const { service, page } = await givenIssued({ authenticated_at: now() })
  const asking = { ...page, headers: { ...page.headers, 'Idempotency-Key': 'once' } }
  expect((await withdraw(caller, asking)).code).toBe('accepted')
  expect((await withdraw(caller, page)).code).toBe('WITHDRAWAL_002')
  await revokeServiceToken(ctx, service.id)
  expect([(await withdraw(caller, page)).code, (await withdraw(caller, asking)).code]).toEqual(['AUTH_001', 'AUTH_001'])
})

test('B117 a page token that had ended before the withdrawal is not told of it, and after the erasure none is', async () => {
  const ended = await givenPage(ctx, caller)
  await setRole(ctx, { userId: caller.userId, role: 'operator' })
  await setRole(ctx, { userId: caller.userId, role: null })
  const [used, open] = [await givenPage(ctx, caller, { authenticated_at: now() }), await givenPage(ctx, caller)]
  expect((await withdraw(caller, used)).code).toBe('accepted')
  expect([(await withdraw(caller, ended)).code, (await withdraw(caller, open)).code]).toEqual([
    'AUTH_001',
    'WITHDRAWAL_002',
  ])
  await pass(ctx, 10 * minute)
  expect((await withdraw(caller, open)).code).toBe('AUTH_001')
})

test('B117 a page token ends when the account gets a role, and does not work again when it loses the role', async () => {
  const page = await givenPage(ctx, caller)
  expect(await status(page)).toBe('accepted')
  for (const role of ['operator', null] as const) {
    await setRole(ctx, { userId: caller.userId, role })
    expect([role, await status(page)]).toEqual([role, 'AUTH_001'])
  }
  const next = await givenPage(ctx, caller)
  await setRole(ctx, { userId: caller.userId, role: null })
  expect(await status(next)).toBe('accepted')
})

test('B117 a write of a page token is refused whose account gets a role while the call waits for it', async () => {
  const page = await givenPage(ctx, caller, { authenticated_at: now() })
  const waited = await heldUp(
    ctx,
    ['users', caller.userId],
    () => withdraw(caller, page),
    (...of) => setRole({ ...ctx, transact: (work) => work(...of) }, { userId: caller.userId, role: 'operator' }),
  )
  expect(waited.code).toBe('AUTH_001')
  expect(await ctx.db.withdrawal.count({ where: { userId: caller.userId } })).toBe(0)
})

test('B65 a page token is refused once its origin is no longer allowed', async () => {
  const page = await givenPage(ctx, caller)
  ctx.allowedOrigins = ['https://next.example.com']
  expect(await status(page)).toBe('AUTH_001')
  ctx.allowedOrigins = [PAGE_ORIGIN]
  expect(await status(page)).toBe('accepted')
})

test('the audit names the service token of a page token, when it is issued and in all that is done with it', async () => {
  const { service, page } = await givenIssued({ authenticated_at: now() })
  const newEmail = `new-${caller.email}`
  const { data } = await change(caller, newEmail, page)
  ctx.clock.advance(5 * minute)
  expect((await resend(caller, data.change_request_id, page)).code).toBe('accepted')
  await ctx.settle()
  expect((await verify(caller, data.change_request_id, codeSentTo(ctx, newEmail), page)).code).toBe('accepted')
  const second = await change(caller, `other-${caller.email}`, page)
  const ids = { changeRequestId: String(second.data.change_request_id) }
  expect((await call(caller, 'cancelEmailChange', { ...page, ids })).code).toBe('accepted')
  expect((await withdraw(caller, page)).code).toBe('accepted')
  const rows = await ctx.db.auditEvent.findMany({
    where: { userId: caller.userId, actor: { in: ['service', 'page_token'] } },
    orderBy: { at: 'asc' },
  })
  expect(rows.map(({ actorId }) => actorId)).toEqual(rows.map(() => service.id))
  expect(new Set(rows.map(({ action, actor }) => `${action} ${actor}`))).toEqual(
    new Set([
      'page_token.issued service',
      'email_change.requested page_token',
      'email_change.resent page_token',
      'email.changed page_token',
      'email_change.cancelled page_token',
      'account.withdrawn page_token',
    ]),
  )
  expect((await call(caller, 'getEmailStatus')).code).toBe('AUTH_001')
})

test('L30 after a withdrawal a page token reads nothing; its call can be repeated, and the status token reads on', async () => {
  const page = await givenPage(ctx, caller, { authenticated_at: now() })
  const other = await givenPage(ctx, caller, { authenticated_at: now() })
  const asking = { ...page, headers: { ...page.headers, 'Idempotency-Key': 'once' } }
  const started = await withdraw(caller, asking)
  expect(started.code).toBe('accepted')
  const ids = { withdrawalId: String(started.data.withdrawal_id) }
  const read = async (by: Asking) => (await call(caller, 'getWithdrawalStatus', { ids, ...by })).code
  expect(await read({ token: String(started.data.status_token) })).toBe('accepted')
  for (const one of [page, other]) {
    expect([await read(one), await status(one), (await withdraw(caller, one)).code]).toEqual([
      'AUTH_001',
      'AUTH_001',
      'WITHDRAWAL_002',
    ])
  }
  expect((await withdraw(caller, { token: page.token })).code).toBe('AUTH_001')
  expect((await withdraw(caller, asking)).text).toBe(started.text)

  const service = await givenServiceToken(ctx)
  const mint = () =>
    call(service, 'issuePageToken', {
      ids: { externalId: `ext-${caller.userId}` },
      body: { scopes: ['email:manage'], origin: PAGE_ORIGIN },
    })
  expect((await mint()).code).toBe('USER_001')
  await pass(ctx, hour)
  const again = { email: caller.email, name: 'Ada', recreate: true }
  const { data } = await call(service, 'putUser', { ids: { externalId: `ext-${caller.userId}` }, body: again })
  expect((await call({ userId: String(data.user_id) }, 'getEmailStatus', page)).code).toBe('AUTH_001')
})

test('a page token is issued for known accounts, allowed origins and times that can be, and for nothing else', async () => {
  const service = await givenServiceToken(ctx, ['pages:issue'])
  await givenPage(ctx, caller)
  const ids = { externalId: `ext-${caller.userId}` }
  const good = { scopes: ['email:manage'], origin: PAGE_ORIGIN }
  const mint = async (more: object = {}, of = ids) => {
    const { code, status, data } = await call(service, 'issuePageToken', { ids: of, body: { ...good, ...more } })
    return code === 'accepted' ? [status, data.expires_at] : code
  }
  expect(await mint()).toEqual([201, now(15 * minute)])
  expect(await mint({ expires_in: 'PT5M' })).toEqual([201, now(5 * minute)])
  expect(await mint({ expires_in: 'PT1M30S', authenticated_at: now(minute) })).toEqual([201, now(90_000)])
  for (const expires_in of ['PT16M', 'PT0S', 'PT901S', 'P1D', 'PT', '15', '', 'PT-1M', 'PT1H', 900, null]) {
    expect([expires_in, await mint({ expires_in })]).toEqual([expires_in, 'REQUEST_001'])
  }
  for (const authenticated_at of [now(minute + 1), 'yesterday', 0, null, '2026-11-20']) {
    expect([authenticated_at, await mint({ authenticated_at })]).toEqual([authenticated_at, 'REQUEST_001'])
  }
  for (const acr of ['', 'é', 'a\nb', 'x'.repeat(256), 7, null]) {
    expect([acr, await mint({ acr })]).toEqual([acr, 'REQUEST_001'])
  }
  const longest = await givenPage(ctx, caller, { acr: '"'.repeat(255) })
  expect(await status(longest)).toBe('accepted')
  for (const scopes of [[], ['tokens:manage'], ['users:write'], 'email:manage', undefined, [null]]) {
    expect([scopes, await mint({ scopes })]).toEqual([scopes, 'REQUEST_001'])
  }
  for (const origin of ['', '*', 'null', `${PAGE_ORIGIN}/`, 'https://evil.test', 'x'.repeat(300)]) {
    expect([origin, await mint({ origin })]).toEqual([origin, 'ORIGIN_001'])
  }
  expect(await mint({}, { externalId: 'nobody' })).toBe('USER_001')
  await setRole(ctx, { userId: caller.userId, role: 'operator' })
  expect(await mint()).toBe('AUTH_002')
})
