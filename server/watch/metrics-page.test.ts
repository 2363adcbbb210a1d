import { beforeEach, expect, test, vi } from 'vitest'
import { processState } from '@/server/process-state'
import { call, day } from '@/testing/api-calls'
import { givenCaller, givenServiceToken } from '@/testing/callers'
import { givenUser, type TestContext } from '@/testing/domain'
import { installContext, installed } from '@/testing/install-context'
import { atStatement } from '@/testing/statements'
import { currentHealth } from './health'
import { metricsPage } from './metrics-page'

const TOKEN = 'metrics-token-0123456789'
const settings = vi.hoisted(() => ({ metricsToken: undefined as string | undefined }))
vi.mock('../settings/env', async (original) => {
  const env = await original<typeof import('../settings/env')>()
  return { ...env, getEnv: () => ({ ...env.getEnv(), ...settings }) }
})

let ctx: TestContext

beforeEach(async () => {
  ctx = await installed()
  processState.health = undefined
  settings.metricsToken = TOKEN
})

const ask = (authorization?: string) =>
  metricsPage(
    new Request('http://localhost/api/metrics', { headers: authorization ? { Authorization: authorization } : {} }),
  )
const read = async () => (await ask(`Bearer ${TOKEN}`)).text()
const figure = (text: string, name: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  )

test('without METRICS_TOKEN the page does not exist, with it only the token opens it, and no answer may be cached', async () => {
  const answerTo = async (authorization?: string) => {
    const { status, headers } = await ask(authorization)
    expect(headers.get('Cache-Control')).toBe('no-store')
    return [status, headers.get('Content-Type')?.split(';')[0]]
  }
  for (const wrong of [undefined, 'Bearer', 'Bearer x', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, TOKEN]) {
    expect({ wrong, status: (await answerTo(wrong))[0] }).toEqual({ wrong, status: 401 })
  }
  expect(await answerTo(`Bearer ${TOKEN}`)).toEqual([200, 'text/plain'])
  settings.metricsToken = undefined
  for (const any of [undefined, `Bearer ${TOKEN}`, 'Bearer undefined']) expect((await answerTo(any))[0]).toBe(404)
})

test('answers are counted by operation and code', async () => {
  const count = (text: string, code: string) =>
    figure(text, `account_request_duration_seconds_count{operation="getEmailStatus",code="${code}"}`) || 0
  const caller = await givenCaller(ctx)
  const before = await read()
  for (const asking of [{}, { scope: null }, { token: null }]) await call(caller, 'getEmailStatus', asking)
  const after = await read()
  for (const code of ['OK', 'AUTH_002', 'AUTH_001']) expect(count(after, code) - count(before, code)).toBe(1)
  expect(after).not.toContain(caller.userId)
})

test('the backlog is read for each request, and left out when it cannot be read', async () => {
  const { userId } = await givenUser(ctx)
  const at = ctx.clock.now()
  expect(figure(await read(), 'account_notices{state="waiting"}')).toBe(0)
  await ctx.db.notice.create({ data: { id: 'ntc_x', userId, kind: 'email_changed', createdAt: at, dueAt: at } })
  expect(figure(await read(), 'account_notices{state="waiting"}')).toBe(1)
  installContext({ ...ctx, sql: () => Promise.reject(new Error('away')) })
  const text = await read()
  expect(text).not.toMatch(
    /^account_(notices|deletion_steps|outbox_events|event_deliveries|silent_applications|present_tasks|foreign_hashes_left|service_tokens_ending)[ {]/m,
  )
  expect(text).toContain('account_password_hashes{line="own",state="running"} 0')
})

test('a figure that cannot be read is left out alone, and the log names it', async () => {
  installContext(atStatement(ctx, 'count-waiting-deliveries', () => Promise.reject(new Error('too slow'))))
  const text = await read()
  expect(text).not.toContain('account_event_deliveries{state="waiting"}')
  for (const name of [
    'account_event_deliveries{state="dead"}',
    'account_outbox_events',
    'account_foreign_hashes_left',
  ]) {
    expect({ name, count: figure(text, name) }).toEqual({ name, count: expect.any(Number) })
    expect(figure(text, name)).not.toBeNaN()
  }
  expect(ctx.warnings).toEqual([{ event: 'figures_unknown', figures: 'undelivered' }])
})

test('service tokens are counted that are in use and end within 30 days', async () => {
  await ctx.db.serviceToken.deleteMany()
  const given = async (endsInMs: number, used: { lastUsedAt?: Date; revokedAt?: Date }) => {
    const { id } = await givenServiceToken(ctx, ['users:read'], endsInMs)
    await ctx.db.serviceToken.update({ where: { id }, data: used })
  }
  const lastUsedAt = ctx.clock.now()
  await given(30 * day, {})
  await given(30 * day + 1, { lastUsedAt })
  await given(30 * day, { lastUsedAt: new Date(lastUsedAt.getTime() - 30 * day) })
  await given(30 * day, { lastUsedAt, revokedAt: lastUsedAt })
  await given(0, { lastUsedAt })
  expect(figure(await read(), 'account_service_tokens_ending')).toBe(0)
  await given(30 * day, { lastUsedAt })
  expect(figure(await read(), 'account_service_tokens_ending')).toBe(1)
})

test('a count stops above ten thousand, however many rows there are', async () => {
  await ctx.db.$executeRaw`
    INSERT INTO outbox_events (id, name, data, created_at, due_at)
    SELECT 'evt_' || n, 'x', '{}', now(), now() FROM generate_series(1, 10100) n`
  expect(figure(await read(), 'account_outbox_events')).toBe(10_001)
  await ctx.db.outboxEvent.deleteMany()
})

test('account_degraded is 1 while the mail server or the engine is away, and 0 once it answers', async () => {
  const parts = async () => {
    const text = await read()
    return ['mail', 'engine'].map((part) => figure(text, `account_degraded{part="${part}"}`))
  }
  expect(await parts()).toEqual([0, 0])
  const healthy = await currentHealth()
  processState.health = async () => ({ ...healthy, degraded: ['mail', 'engine'] })
  expect(await parts()).toEqual([1, 1])
  processState.health = async () => ({ ...healthy, degraded: ['engine'] })
  expect(await parts()).toEqual([0, 1])
})
