import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EventType } from '@/contract/vocabulary'
import { asUser, givenUser, pass, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf, tablesWith } from '@/testing/outcomes'
import type { AppAnswer, AppRequest } from '../ports'
import { createProcess } from '../process'
import { bytes, integer, sql, statement, text, time } from '../sql'
import { withdrawAccount } from '../withdrawal/withdraw-account'
import { connectApp } from './connect'
import { beginDueDeliveries } from './deliveries'
import { registerApp, setApp } from './manage'
import { addTransaction } from './transactions'

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
const STARTED: EventType = 'account.withdrawal_started'

interface Call extends AppRequest {
  app: string
  type: string
  at: number
}

let ctx: TestContext
/** What the applications got, and how they answer. */
let calls: Call[]
let answering: (call: Call) => AppAnswer | Promise<AppAnswer>

beforeEach(async () => {
  ctx = await testContext()
  calls = []
  answering = () => ({ status: 204 })
  ctx.apps.answer = async (request) => {
    const { type } = JSON.parse(request.body) as { type: string }
    const call = { ...request, app: new URL(request.endpoint).host, type, at: ctx.clock.now().getTime() }
    calls.push(call)
    return answering(call)
  }
})
afterEach(async () => {
  answering = () => ({ status: 204 })
  await ctx.settle()
  await ctx.db.withdrawal.deleteMany()
})

const startedOf = (app: string) => calls.filter((call) => call.app === app && call.type === STARTED)

async function connect(user: TestUser, app: string, events: EventType[] = [STARTED]) {
  const secret = `whsec_${Buffer.from(`secret of ${app}`).toString('base64')}`
  const { appId } = await registerApp(ctx, { name: app, endpoint: `https://${app}/hook`, secret, events })
  await connectApp(ctx, { userId: user.userId, appId, subject: `${app} ${user.userId}` })
  return appId
}

async function withdraw(user: TestUser): Promise<string> {
  const caller = await asUser(ctx, user)
  return (await withdrawAccount(caller, { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' })).withdrawal_id
}

async function deliverDue() {
  await beginDueDeliveries(ctx)
  await ctx.settle()
}

const deliveriesOf = (withdrawalId: string) => ctx.db.eventDelivery.findMany({ where: { event: { withdrawalId } } })

async function givenPerson(...apps: string[]) {
  const user = await givenUser(ctx)
  for (const app of apps) await connect(user, app)
  return user
}

/** All connected to one application. */
async function givenPeople(app: string, count: number) {
  const users = await Promise.all(Array.from({ length: count }, () => givenUser(ctx)))
  const appId = await connect(users[0] as TestUser, app)
  for (const { userId } of users.slice(1)) await connectApp(ctx, { userId, appId, subject: userId })
  return { users, appId }
}

test('an application that asked for it gets the event of the start, and all get the withdrawal an hour later', async () => {
  const user = await givenPerson('calendar.test')
  await connect(user, 'notes.test', [])
  const { version } = await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })
  const withdrawalId = await withdraw(user)
  await ctx.settle()
  expect(calls.map(({ app, type, at }) => [app, type, at])).toEqual([
    ['calendar.test', STARTED, Date.parse('2026-11-20T09:00:00.000Z')],
  ])
  const [call] = calls as [Call]
  expect(JSON.parse(call.body)).toEqual({
    type: STARTED,
    timestamp: '2026-11-20T09:00:00.000Z',
    data: {
      withdrawal_id: withdrawalId,
      subject: `calendar.test ${user.userId}`,
      account: user.userId,
      version: expect.any(Number),
    },
  })
  expect(JSON.parse(call.body).data.version).toBeGreaterThan(version)
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = call.headers
  expect(timestamp).toBe(String(Date.parse('2026-11-20T09:00:00.000Z') / second))
  const mac = createHmac('sha256', 'secret of calendar.test').update(`${id}.${timestamp}.${call.body}`)
  expect(signature).toBe(`v1,${mac.digest('base64')}`)

  await pass(ctx, hour)
  const later = calls.slice(1).map(({ app, type, headers }) => [app, type, headers['webhook-id'] === id])
  expect(later.sort()).toEqual([
    ['calendar.test', 'account.withdrawn', false],
    ['notes.test', 'account.withdrawn', false],
  ])
})

test('a refused withdrawal sends no event', async () => {
  const user = await givenPerson('shop.test')
  await addTransaction(ctx, { userId: user.userId, status: 'pending', title: '', ip: '' })
  expect(await outcomeOf(withdraw(user))).toBe('WITHDRAWAL_003')
  await deliverDue()
  expect(calls).toEqual([])
  expect(await ctx.db.event.count()).toBe(0)
})

test('a failed delivery is retried from 5 s to a day, under one id with the same bytes, and is a dead letter after 7 days', async () => {
  answering = () => ({ status: 503 })
  const withdrawalId = await withdraw(await givenPerson('shop.test'))
  const start = ctx.clock.now().getTime()
  await ctx.settle()
  const waits: number[] = []
  for (;;) {
    const [delivery] = await deliveriesOf(withdrawalId)
    if (!delivery?.dueAt) break
    const waitMs = delivery.dueAt.getTime() - ctx.clock.now().getTime()
    waits.push(waitMs)
    // A millisecond earlier nothing is due.
    ctx.clock.advance(waitMs - 1)
    await deliverDue()
    expect(startedOf('shop.test')).toHaveLength(waits.length)
    ctx.clock.advance(1)
    await deliverDue()
    expect(startedOf('shop.test')).toHaveLength(waits.length + 1)
  }
  for (const [tries, waitMs] of waits.slice(0, -1).entries()) {
    expect(waitMs).toBeGreaterThanOrEqual(Math.min(5 * second * 2 ** tries, day))
    expect(waitMs).toBeLessThanOrEqual(Math.min(6.25 * second * 2 ** tries, day))
  }
  expect(ctx.clock.now().getTime()).toBe(start + 7 * day)
  expect(new Set(startedOf('shop.test').map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
  expect(await deliveriesOf(withdrawalId)).toMatchObject([
    { status: 'dead', dueAt: null, deadAt: ctx.clock.now(), lastStatus: 503, lastError: 'HTTP 503' },
  ])
})

test.each([200, 204, 404, 410])('an answer of %i ends the delivery and clears the subject', async (status) => {
  answering = () => ({ status })
  const user = await givenPerson('shop.test')
  const withdrawalId = await withdraw(user)
  await ctx.settle()
  expect(await deliveriesOf(withdrawalId)).toMatchObject([
    { status: 'delivered', subject: null, dueAt: null, leaseUntil: null, lastStatus: status, attempts: 1 },
  ])
  ctx.clock.advance(minute)
  await deliverDue()
  expect(calls).toHaveLength(1)
})

test('Retry-After is honoured, but not below the first back-off and not beyond the seventh day', async () => {
  answering = () => ({ status: 429, retryAfterMs: hour })
  const withdrawalId = await withdraw(await givenPerson('shop.test'))
  const start = ctx.clock.now().getTime()
  await ctx.settle()
  const dueAt = async () => (await deliveriesOf(withdrawalId))[0]?.dueAt?.getTime()
  expect(await dueAt()).toBe(start + hour)
  answering = () => ({ status: 503, retryAfterMs: 0 })
  ctx.clock.advance(hour)
  await deliverDue()
  expect(await dueAt()).toBe(start + hour + 5 * second)
  answering = () => ({ status: 429, retryAfterMs: hour })
  ctx.clock.advance(7 * day - hour - minute)
  await deliverDue()
  expect(await dueAt()).toBe(start + 7 * day)
})

test('an application that hangs on many calls delays no other, and has at most ten calls', async () => {
  const hanging: ((answer: AppAnswer) => void)[] = []
  answering = ({ app }) => (app === 'hangs.test' ? new Promise((resolve) => hanging.push(resolve)) : { status: 204 })
  const { users } = await givenPeople('hangs.test', 25)
  for (const user of users) await withdraw(user)
  await expect.poll(() => hanging).toHaveLength(10)
  await withdraw(await givenPerson('quick.test'))
  await expect.poll(() => startedOf('quick.test')).toHaveLength(1)
  await beginDueDeliveries(ctx)
  expect(hanging).toHaveLength(10)
  // The next call takes a free place without a sweep.
  hanging.shift()?.({ status: 204 })
  await expect.poll(() => startedOf('hangs.test')).toHaveLength(11)

  answering = () => ({ status: 204 })
  for (const answer of hanging.splice(0)) answer({ status: 204 })
  await expect.poll(() => ctx.db.eventDelivery.count({ where: { status: 'pending' } })).toBe(0)
  expect(startedOf('hangs.test')).toHaveLength(25)
})

test('an application that is disabled while it is told gets no further message before it is enabled', async () => {
  const hanging: ((answer: AppAnswer) => void)[] = []
  answering = () => new Promise((resolve) => hanging.push(resolve))
  const { users, appId } = await givenPeople('shop.test', 12)
  for (const user of users) await withdraw(user)
  await expect.poll(() => hanging).toHaveLength(10)
  await setApp(ctx, { appId, disabled: true })
  answering = () => ({ status: 204 })
  for (const answer of hanging.splice(0)) answer({ status: 204 })
  await ctx.settle()
  // No sweep tells it either.
  ctx.clock.advance(hour)
  await deliverDue()
  expect(startedOf('shop.test')).toHaveLength(10)
  await setApp(ctx, { appId, disabled: false })
  await expect.poll(() => startedOf('shop.test')).toHaveLength(12)
})

test('another instance repeats the deliveries of a dead one after its lease, and the late failure changes nothing', async () => {
  let answerLate = (_answer: AppAnswer) => {}
  answering = () =>
    new Promise((resolve) => {
      answerLate = resolve
    })
  const withdrawalId = await withdraw(await givenPerson('shop.test'))
  await expect.poll(() => startedOf('shop.test')).toHaveLength(1)
  answering = () => ({ status: 503 })
  const other = { ...ctx, process: createProcess() }
  ctx.clock.advance(20 * second - 1)
  await beginDueDeliveries(other)
  expect(startedOf('shop.test')).toHaveLength(1)
  ctx.clock.advance(1)
  await beginDueDeliveries(other)
  await expect.poll(() => deliveriesOf(withdrawalId)).toMatchObject([{ attempts: 2, leaseUntil: null }])
  const before = await deliveriesOf(withdrawalId)
  answerLate({ status: 500 })
  await ctx.settle()
  expect(await deliveriesOf(withdrawalId)).toEqual(before)
  expect(before).toMatchObject([{ status: 'pending', lastStatus: 503 }])
})

const fillChanges = statement(
  'test-fill-changes',
  { appId: text, now: time, count: integer, sealed: bytes },
  {},
  (v) => sql`WITH written AS (
     INSERT INTO events (id, type, user_id, data, version, occurred_at)
     SELECT 'evt_' || n, 'account.email_changed', 'usr_' || n % 100, '{}', n / 100, ${v.now} FROM generate_series(0, ${v.count}::int - 1) n
     RETURNING id, user_id
   )
   INSERT INTO event_deliveries (id, event_id, app_id, subject, sealed_data, status, due_at, created_at)
   SELECT 'dlv_' || id, id, ${v.appId}, user_id, ${v.sealed}, 'pending', ${v.now}, ${v.now} FROM written`,
)

test('F36 of 10,000 changes while a receiver is away for a day none is lost, no id has two bodies, and versions give the order', {
  timeout: 120_000,
}, async () => {
  answering = () => ({ status: 0, problem: 'ECONNREFUSED' })
  const secret = 'whsec_c2VjcmV0'
  const { appId } = await registerApp(ctx, { name: 'away', endpoint: 'https://away.test/hook', secret })
  const count = 10_000
  const sealed = ctx.secrets.seal(JSON.stringify({ old_email: 'old@example.test', new_email: 'new@example.test' }))
  await ctx.sql(fillChanges, { appId, now: ctx.clock.now(), count, sealed })
  const bodies = new Map<string, Set<string>>()
  const received = new Map<string, Set<number>>()
  const note = ({ headers, body }: Call) => {
    const id = headers['webhook-id'] ?? ''
    bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
  }
  answering = (call) => {
    note(call)
    return { status: 0, problem: 'ECONNREFUSED' }
  }
  await deliverDue()
  expect(bodies.size).toBeGreaterThan(0)
  ctx.clock.advance(day)
  answering = (call) => {
    note(call)
    const { data } = JSON.parse(call.body) as { data: { subject: string; version: number } }
    received.set(data.subject, (received.get(data.subject) ?? new Set()).add(data.version))
    return { status: 204 }
  }
  // On a busy machine a statement can time out; the next sweep goes on where this one ended.
  const sweep = async () => {
    ctx.clock.advance(20 * second)
    await deliverDue()
    expect(await ctx.db.eventDelivery.count({ where: { appId, status: { not: 'delivered' } } })).toBe(0)
  }
  await vi.waitFor(sweep, 60_000)
  expect(bodies.size).toBe(count)
  expect([...bodies.values()].filter(({ size }) => size > 1)).toEqual([])
  expect(received.size).toBe(100)
  const versions = Array.from({ length: count / 100 }, (_, version) => version)
  for (const seen of received.values()) expect([...seen].sort((a, b) => a - b)).toEqual(versions)
  expect(await tablesWith(ctx, 'new@example.test')).toEqual([])
  await ctx.db.connectedApp.delete({ where: { id: appId } })
  await ctx.db.event.deleteMany({ where: { userId: { startsWith: 'usr_' }, id: { startsWith: 'evt_' } } })
})
