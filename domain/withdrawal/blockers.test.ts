import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Asking, type Caller, call, day, hour, withdraw } from '@/testing/api-calls'
import { givenCaller, givenServiceToken } from '@/testing/callers'
import type { TestContext } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { heldUp, outcomeOf, placesTaken } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { connectApp } from '../applications/connect'
import { registerApp, setApp } from '../applications/manage'
import { addTransaction, endTransaction } from '../applications/transactions'
import type { AppAnswer, AppRequest } from '../ports'
import { cleanUp } from '../work/cleanup'
import { withdrawByOperator } from './withdraw-account'

const secret = 'whsec_c2VjcmV0'
const confirmation = 'DELETE_MY_ACCOUNT' as const
const invoice = { code: 'unpaid_invoice', title: 'Invoice 4711 is not paid', url: 'https://billing.test/4711' }
const toPay = { url: 'https://shop.test/orders/7', amount: { minor_units: 900, currency: 'EUR' } }
const order = { code: 'open_order', title: 'An order is on its way', url: 'https://shop.test/orders/1' }

let ctx: TestContext
let service: { id: string; userId: string; token: string }
let caller: Caller

beforeEach(async () => {
  ctx = await installed()
  await ctx.db.appConnection.deleteMany()
  await ctx.db.connectedApp.deleteMany()
  service = await givenServiceToken(ctx, ['users:write', 'withdrawals:start'], day, {
    name: 'billing',
    hosts: ['billing.test'],
  })
  caller = await givenCaller(ctx)
  await ctx.db.user.update({ where: { id: caller.userId }, data: { externalId: externalIdOf(caller) } })
})

const externalIdOf = ({ userId }: Caller) => `customer of ${userId}`
const byService = (operation: string, key: string, asking: Asking = {}) =>
  call(service, operation, {
    ...asking,
    ids: { externalId: encodeURIComponent(externalIdOf(caller)), key: encodeURIComponent(key), ...asking.ids },
  })
const push = (body: object = invoice, key = 'invoice/4711') => byService('putBlocker', key, { body })
const preview = (query = '') => call(caller, 'previewWithdrawal', { query })
const pending = () =>
  addTransaction(ctx, { userId: caller.userId, status: 'pending', title: 'Order 7', ...toPay, ip: '' })
const started = () => ctx.db.withdrawal.count({ where: { userId: caller.userId } })
const callsCounted = () => placesTaken(ctx, { key: `withdraw:${caller.userId}` })

test('B112 preview, refusal and progress name the authority to complain to, and no other answer does', async () => {
  const authority = { name: 'Data Protection Office', url: 'https://authority.test/complain' }
  ctx.authority = authority
  await push()
  expect((await preview()).data).toMatchObject({ allowed: false, authority })
  const refused = await withdraw(caller)
  expect(JSON.parse(refused.text).error).toMatchObject({ code: 'WITHDRAWAL_003', authority })
  expect((await withdraw(caller, { body: {} })).text).not.toContain('authority')
  await byService('removeBlocker', 'invoice/4711')
  const { data, text } = await withdraw(caller)
  expect(text).not.toContain('authority')
  const options = { ids: { withdrawalId: String(data.withdrawal_id) }, token: String(data.status_token) }
  expect((await call(caller, 'getWithdrawalStatus', options)).data).toMatchObject({ authority })
})

test('B114 preview and refusal say until when, of a blocker that ends by itself and of no other', async () => {
  const until = new Date(ctx.clock.now().getTime() + day).toISOString()
  await push({ ...invoice, expires_at: until }, 'ending')
  await push(invoice, 'without an end')
  const [ends, stays] = (await withdraw(caller)).blockers ?? []
  expect(ends).toMatchObject({ code: invoice.code, until })
  expect(stays).not.toHaveProperty('until')
  expect((await preview()).data).toMatchObject({ blockers: [{ until }, {}] })
})

test('B112 without an authority no answer has a member for it', async () => {
  await push()
  for (const { text } of [await preview(), await withdraw(caller)]) expect(text).not.toContain('authority')
})

describe('a pushed blocker', () => {
  test('holds back a withdrawal by the person, a service or the operator until it is removed', async () => {
    expect(await push()).toMatchObject({
      status: 200,
      data: { ...invoice, user_id: caller.userId, key: 'invoice/4711', source: 'billing', expires_at: null },
    })
    const blockers = [{ ...invoice, source: 'billing' }]
    expect(await withdraw(caller)).toMatchObject({
      status: 409,
      code: 'WITHDRAWAL_003',
      details: '1 blocker. Settle or cancel it first.',
      blockers,
    })
    const bySupport = byService('withdrawUser', '', { body: { confirmation, requested_by: 'support' } })
    expect(await bySupport).toMatchObject({ code: 'WITHDRAWAL_003', blockers })
    expect(await outcomeOf(withdrawByOperator(ctx, { userId: caller.userId, confirmation }))).toBe('WITHDRAWAL_003')
    expect(await started()).toBe(0)
    expect((await preview()).data).toMatchObject({ allowed: false, blockers })

    expect(await byService('removeBlocker', 'invoice/4711')).toMatchObject({ status: 200, data: { removed: true } })
    expect(await byService('removeBlocker', 'invoice/4711')).toMatchObject({ status: 200, data: { removed: false } })
    const about = { userId: caller.userId, action: { startsWith: 'withdrawal.blocker' } }
    const audited = await ctx.db.auditEvent.findMany({ where: about, orderBy: { action: 'asc' } })
    const named = 'billing: unpaid_invoice (invoice/4711)'
    expect(audited.map(({ action, subjectId, actor }) => [action, subjectId, actor])).toEqual([
      ['withdrawal.blocker_put', named, 'service'],
      ['withdrawal.blocker_removed', named, 'service'],
    ])
    expect((await preview()).data).toMatchObject({ allowed: true, blockers: [] })
    expect((await withdraw(caller)).code).toBe('accepted')
  })

  test('B123 is listed beside the pending transactions, which are one entry that tells what has to be paid and where', async () => {
    const first = await pending()
    ctx.clock.advance(1)
    const last = await pending()
    await push()
    const ids = [first, last]
    const transactions = ids.map((id) => ({
      ...{ id, title: 'Order 7', ...toPay, created_at: expect.stringMatching(/^2026-.*Z$/) },
    }))
    const own = {
      ...{ code: 'pending_transactions', title: '2 pending transactions', url: null, source: 'account', ids },
      transactions,
    }
    const blockers = [own, { ...invoice, source: 'billing' }]
    const details = '2 pending transactions and 1 blocker. Settle or cancel them first.'
    expect(await withdraw(caller)).toMatchObject({ code: 'WITHDRAWAL_003', details, blockers })
    expect((await preview()).data.blockers).toEqual(blockers)
    await byService('removeBlocker', 'invoice/4711')
    await endTransaction(ctx, { transactionId: last, status: 'cancelled' })
    expect((await withdraw(caller)).details).toBe('1 pending transaction. Settle or cancel it first.')
  })

  test('is replaced by the same key of the same source; another source has keys of its own', async () => {
    await push()
    await push({ ...invoice, title: 'Invoice 4711 is late' })
    const billing = service
    service = await givenServiceToken(ctx, ['users:write'], day, { name: 'shop', hosts: ['shop.test'] })
    await push(order)
    const titles = (await withdraw(caller)).blockers?.map(({ title, source }) => `${source}: ${title}`)
    expect(titles).toEqual(['billing: Invoice 4711 is late', 'shop: An order is on its way'])
    await byService('removeBlocker', 'invoice/4711')
    service = billing
    await byService('removeBlocker', 'invoice/4711')
    expect((await withdraw(caller)).code).toBe('accepted')
  })

  test('does not count once it has expired, and the cleanup deletes it', async () => {
    const messageOf = ({ text }: { text: string }) => JSON.parse(text).message
    const end = new Date(ctx.clock.now().getTime() + hour).toISOString()
    expect(messageOf(await push({ ...invoice, expires_at: end }))).toContain('cannot be withdrawn')
    expect((await withdraw(caller)).code).toBe('WITHDRAWAL_003')
    await cleanUp(ctx)
    expect(await ctx.db.withdrawalBlocker.count({ where: { userId: caller.userId } })).toBe(1)
    ctx.clock.advance(hour)
    expect((await preview()).data).toMatchObject({ allowed: true, blockers: [] })
    expect(messageOf(await push({ ...invoice, expires_at: end }))).toContain('holds nothing back')
    await cleanUp(ctx)
    expect(await ctx.db.withdrawalBlocker.count({ where: { userId: caller.userId } })).toBe(0)
    expect((await withdraw(caller)).code).toBe('accepted')
  })

  test.each([
    [{ ...invoice, url: 'https://elsewhere.test/' }, 'url'],
    [{ ...invoice, url: 'http://billing.test/' }, 'url'],
    [{ ...invoice, url: 'https://billing.test:8443/' }, 'url'],
    [{ ...invoice, url: 'https://billing.test@elsewhere.test/' }, 'url'],
    [{ ...invoice, url: 'https://somebody@billing.test/' }, 'url'],
    [{ ...invoice, url: 'javascript:alert(1)' }, 'url'],
    [{ ...invoice, url: 1 }, 'url'],
    [{ ...invoice, title: 'x'.repeat(201) }, 'title'],
    [{ ...invoice, title: ' ' }, 'title'],
    [{ ...invoice, title: 'two\nlines' }, 'title'],
    [{ ...invoice, code: '' }, 'code'],
    [{ ...invoice, code: 'x'.repeat(65) }, 'code'],
    [{ ...invoice, amount: { minor_units: 1.5, currency: 'EUR' } }, 'amount'],
    [{ ...invoice, amount: { minor_units: -1, currency: 'EUR' } }, 'amount'],
    [{ ...invoice, amount: { minor_units: 2_147_483_648, currency: 'EUR' } }, 'amount'],
    [{ ...invoice, amount: { minor_units: 1, currency: 'eur' } }, 'amount'],
    [{ ...invoice, amount: { minor_units: 1, currency: 'QQQ' } }, 'amount'],
    [{ ...invoice, amount: { minor_units: 1, currency: 'EUR', tax: 0 } }, 'amount'],
    [{ ...invoice, amount: 12.5 }, 'amount'],
    [{ ...invoice, expires_at: 'tomorrow' }, 'expires_at'],
    [{ ...invoice, expires_at: '9999-12-31T23:59:59-01:00' }, 'expires_at'],
    [{ ...invoice, expires_at: '0000-01-01T00:00:00+01:00' }, 'expires_at'],
  ])('is refused as %j, and the answer names %s, also in local mode', async (body, field) => {
    ctx.allowsHttpLinks = true
    onTestFinished(() => {
      ctx.allowsHttpLinks = false
    })
    const answer = await push(body)
    expect([answer.status, answer.code]).toEqual([400, 'REQUEST_001'])
    expect(answer.details).toContain(field)
    expect((await withdraw(caller)).code).toBe('accepted')
  })

  test('B123 tells its amount until it is replaced by one without', async () => {
    await push({ ...invoice, amount: toPay.amount })
    expect((await withdraw(caller)).blockers).toEqual([{ ...invoice, amount: toPay.amount, source: 'billing' }])
    await push({ ...invoice, amount: null })
    expect((await preview()).data.blockers).toEqual([{ ...invoice, source: 'billing' }])
  })

  test('may have a title of 200 characters and no link', async () => {
    const title = '😀'.repeat(200)
    expect((await push({ code: 'a', title })).code).toBe('accepted')
    expect((await withdraw(caller)).blockers).toEqual([{ code: 'a', title, url: null, source: 'billing' }])
  })

  test('is possible only for accounts that are not withdrawn', async () => {
    for (const operation of ['putBlocker', 'removeBlocker']) {
      const unknown = await byService(operation, 'a', {
        ids: { externalId: 'nobody' },
        body: { code: 'a', title: 'b' },
      })
      expect([operation, unknown.code]).toEqual([operation, 'USER_001'])
    }
    await withdraw(caller)
    expect((await push()).code).toBe('USER_001')
  })

  test('B48 holds back a withdrawal that waits for the account while the blocker is pushed', async () => {
    const outcome = await heldUp(
      ctx,
      ['users', caller.userId],
      () => withdraw(caller),
      (sql) =>
        rawSql(sql, `INSERT INTO withdrawal_blockers VALUES ($1, 'billing', 'a', 'a', 'b', NULL, now(), NULL)`, [
          caller.userId,
        ]),
    )
    expect(outcome.code).toBe('WITHDRAWAL_003')
  })
})

describe('an application with checks', () => {
  let checks: AppRequest[]
  const holding = (...blockers: object[]): AppAnswer => ({ status: 200, body: JSON.stringify({ blockers }) })
  const free = holding()

  beforeEach(() => {
    checks = []
  })

  /** Applications by name, with their answers; the host of their links is `<name>.test`. */
  async function givenChecks(answers: Record<string, AppAnswer | Promise<AppAnswer>>, more = {}) {
    const appIds: Record<string, string> = {}
    for (const name of Object.keys(answers)) {
      const app = { name, endpoint: `https://${name}.test/hook`, secret, checks: true, hosts: [`${name}.test`] }
      appIds[name] = (await registerApp(ctx, { ...app, audience: 'everyone', ...more })).appId
    }
    ctx.apps.answer = async (request) => {
      if (JSON.parse(request.body).type !== 'account.withdrawal_check') return { status: 204 }
      checks.push(request)
      return answers[new URL(request.endpoint).hostname.replace('.test', '')] ?? { status: 500 }
    }
    return appIds
  }

  test('is asked with a signed message, and the withdrawal begins if it names no blocker', async () => {
    await givenChecks({ shop: free })
    expect((await withdraw(caller)).code).toBe('accepted')
    expect(checks).toHaveLength(1)
    expect(JSON.parse(checks[0]?.body ?? '')).toEqual({
      type: 'account.withdrawal_check',
      timestamp: ctx.clock.now().toISOString(),
      data: { subject: externalIdOf(caller), account: caller.userId },
    })
    expect(checks[0]?.headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^chk_/),
      'webhook-signature': expect.stringMatching(/^v1,/),
    })
    expect(await callsCounted()).toBe(1)
  })

  test('B123 holds the withdrawal back with its answer, amount included; a link to another host is left out', async () => {
    const foreign = { ...order, url: 'https://elsewhere.test/' }
    const priced = { ...order, amount: toPay.amount }
    await givenChecks({ shop: holding(priced, foreign, { code: 'a', title: 'b', amount: null }), bank: free })
    const blockers = [
      { ...priced, source: 'shop' },
      { ...order, url: null, source: 'shop' },
      { code: 'a', title: 'b', url: null, source: 'shop' },
    ]
    expect(await withdraw(caller)).toMatchObject({ code: 'WITHDRAWAL_003', details: /^3 blockers\./, blockers })
    expect([await started(), await callsCounted()]).toEqual([0, 1])
    expect((await preview()).data).toMatchObject({ allowed: true, blockers: [] })
    expect((await preview('?ask=true')).data).toMatchObject({ allowed: false, blockers })
  })

  test('may link to http only in local mode', async () => {
    await givenChecks({ shop: holding({ ...order, url: 'http://shop.test/orders/1' }) })
    expect((await withdraw(caller)).blockers).toEqual([{ ...order, url: null, source: 'shop' }])
    ctx.allowsHttpLinks = true
    expect((await withdraw(caller)).blockers).toMatchObject([{ url: 'http://shop.test/orders/1' }])
    ctx.allowsHttpLinks = false
  })

  test('is also asked when a service or the operator withdraws', async () => {
    await givenChecks({ shop: holding(order) })
    const bySupport = await byService('withdrawUser', '', { body: { confirmation, requested_by: 'support' } })
    expect(bySupport).toMatchObject({ code: 'WITHDRAWAL_003', blockers: [{ source: 'shop' }] })
    expect(await outcomeOf(withdrawByOperator(ctx, { userId: caller.userId, confirmation }))).toBe('WITHDRAWAL_003')
    expect(checks).toHaveLength(2)
  })

  test('is not asked while it is disabled, if something else holds the withdrawal back, or about people of others', async () => {
    const { shop = '' } = await givenChecks({ shop: holding(order) }, { audience: 'connected' })
    const somebody = await givenCaller(ctx)
    await connectApp(ctx, { userId: caller.userId, appId: shop, subject: 'id at the shop' })
    expect((await withdraw(somebody)).code).toBe('accepted')
    await push()
    expect((await withdraw(caller)).blockers).toEqual([{ ...invoice, source: 'billing' }])
    expect(checks).toEqual([])
    await byService('removeBlocker', 'invoice/4711')
    expect((await withdraw(caller)).code).toBe('WITHDRAWAL_003')
    expect(checks.map(({ body }) => JSON.parse(body).data.subject)).toEqual(['id at the shop'])
    await setApp(ctx, { appId: shop, disabled: true })
    expect((await withdraw(caller)).code).toBe('accepted')
    expect(checks).toHaveLength(1)
  })

  test('is asked while no lock, no connection and no row of the withdrawal is held', async () => {
    await givenChecks({ shop: free })
    const { answer } = ctx.apps
    let open: unknown[] = []
    ctx.apps.answer = async (request) => {
      // Fails at once if anybody holds a lock on the account.
      await ctx.transact((sql) => rawSql(sql, 'SELECT FROM users WHERE id = $1 FOR UPDATE NOWAIT', [caller.userId]))
      open = await ctx.db
        .$queryRaw`SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`
      expect(await started()).toBe(0)
      return answer(request)
    }
    expect((await withdraw(caller)).code).toBe('accepted')
    expect(open).toEqual([])
  })

  test('does not see a blocker that is pushed during the check, but the withdrawal does', async () => {
    await givenChecks({ shop: free })
    const { answer } = ctx.apps
    ctx.apps.answer = async (request) => {
      await push()
      return answer(request)
    }
    expect((await withdraw(caller)).blockers).toEqual([{ ...invoice, source: 'billing' }])
    expect(await started()).toBe(0)
  })

  test.each<[string, AppAnswer]>([
    ['is away', { status: 0, problem: 'ECONNREFUSED' }],
    ['fails', { status: 500, body: '{"blockers":[]}' }],
    ['answers without a body', { status: 204 }],
    ['knows nobody', { status: 404 }],
    ['sends no JSON', { status: 200, body: 'fine' }],
    ['sends a body that is too large to be read', { status: 200 }],
    ['sends another shape', { status: 200, body: '[]' }],
    ['sends a member more', { status: 200, body: '{"blockers":[],"allowed":true}' }],
    ['sends a member of a blocker more', holding({ ...order, level: 'low' })],
    ['leaves a member out', holding({ title: 'b' })],
    ['sends a title that is too long', holding({ ...order, title: 'x'.repeat(201) })],
    ['sends a link that is too long', holding({ ...order, url: `https://shop.test/${'x'.repeat(2000)}` })],
    ['sends an amount in words', holding({ ...order, amount: '12.50 EUR' })],
    ['names 21 blockers', holding(...Array(21).fill(order))],
  ])('F39 gives no permission when it %s: SERVER_002, no place taken, no answer kept', async (_what, answer) => {
    const answers: Record<string, AppAnswer> = { bank: holding(invoice), shop: answer }
    const { shop = '' } = await givenChecks(answers)
    const headers = { 'Idempotency-Key': 'the-same' }
    for (let n = 0; n < 6; n++) {
      const refused = await withdraw(caller, { headers })
      expect([refused.status, refused.code, refused.headers.get('Retry-After')]).toEqual([503, 'SERVER_002', '5'])
      expect(refused.headers.get('Idempotency-Replayed')).toBeNull()
    }
    expect([await started(), await callsCounted()]).toEqual([0, 0])
    expect(ctx.warnings[0]).toMatchObject({ event: 'withdrawal_check_failed', appId: shop })
    expect((await preview('?ask=true')).code).toBe('SERVER_002')
    expect((await preview()).code).toBe('accepted')
    Object.assign(answers, { bank: free, shop: free })
    expect(await withdraw(caller, { headers })).toMatchObject({ status: 202 })
  })

  test('may name twenty blockers', async () => {
    await givenChecks({ shop: holding(...Array(20).fill(order)) })
    expect((await withdraw(caller)).blockers).toHaveLength(20)
  })

  test('is not asked by a call beyond the limit', async () => {
    await givenChecks({ shop: holding(order) })
    for (let n = 0; n < 5; n++) expect((await withdraw(caller)).code).toBe('WITHDRAWAL_003')
    expect((await withdraw(caller)).code).toBe('RATE_001')
    expect(checks).toHaveLength(5)
  })

  test('F39 gets at most five seconds for its answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await givenChecks({ shop: new Promise(() => {}), bank: free })
    let ended: string | undefined
    const withdrawing = withdraw(caller).then(({ code }) => {
      ended = code
    })
    // Not a poll, which would advance the timers.
    while (checks.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(checks.map(({ bodyWithinMs }) => bodyWithinMs)).toEqual([3_000, 3_000])
    await vi.advanceTimersByTimeAsync(4_999)
    expect(ended).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    await withdrawing
    expect([ended, await started(), await callsCounted()]).toEqual(['SERVER_002', 0, 0])
  })
})
