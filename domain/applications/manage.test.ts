import { beforeEach, expect, test, vi } from 'vitest'
import { appSettings } from '@/contract/apps'
import { createEndpointRule } from '@/server/adapters/app-caller'
import { givenVerifiedChange } from '@/testing/account'
import { asUser, givenUser, pass, passDays, type TestContext, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { atStatement } from '@/testing/statements'
import { signatureOf } from '@/testing/webhook'
import { clearWithdrawals, givenParticipant, givenWithdrawal } from '@/testing/withdrawals'
import { actsOnApp } from '../audit'
import { AUDIT_ACTIONS, type AuditAction } from '../audit-actions'
import { auditManager } from '../manager'
import type { AppRequest } from '../ports'
import { issueServiceToken } from '../sessions/service-tokens'
import { withdrawAccount } from '../withdrawal/withdraw-account'
import { endTask } from './deliver'
import { type AppChanges, getApp, listApps, pingApp, registerApp, removeApp, rotateAppSecret, setApp } from './manage'
import { listDeliveries, resendEvents } from './operate-deliveries'

const [hour, day] = [3_600_000, 86_400_000]
const endpoint = 'https://shop.test/hook'

let ctx: TestContext
/** An application that gets every address change, its requests, and the status of its answers. */
let appId: string
let signingSecret: string
let requests: AppRequest[]
let status: number

beforeEach(async () => {
  ctx = await testContext()
  await clearWithdrawals(ctx)
  requests = []
  status = 204
  ctx.apps.answer = async (request) => {
    requests.push(request)
    return { status }
  }
  const app = { name: 'Shop', endpoint, events: ['account.email_changed' as const], audience: 'everyone' as const }
  const shop = await registerApp(ctx, app)
  appId = shop.appId
  signingSecret = shop.signingSecret ?? ''
})

const changeAddress = async () => givenVerifiedChange(ctx, await givenUser(ctx))

const signaturesOf = ({ headers }: AppRequest) => headers['webhook-signature']?.split(' ')

test('after a rotation both secrets sign for a day, then only the new one', async () => {
  const { signing_secret: second, previous_secret_until: until } = await rotateAppSecret(ctx, { appId })
  expect(Date.parse(until) - ctx.clock.now().getTime()).toBe(day)
  await changeAddress()
  const [request] = requests as [AppRequest]
  expect(signaturesOf(request)).toEqual([signatureOf(request, second), signatureOf(request, signingSecret)])
  ctx.clock.advance(day)
  await pingApp(ctx, { appId })
  const pinged = requests.at(-1) as AppRequest
  expect(signaturesOf(pinged)).toEqual([signatureOf(pinged, second)])
  expect(await getApp(ctx, { appId })).toMatchObject({ previous_secret_until: null })
})

test('a ping is signed, says nothing, and shows the answer', async () => {
  status = 418
  expect(await pingApp(ctx, { appId })).toMatchObject({ app_id: appId, status: 418, problem: null })
  const [request] = requests as [AppRequest]
  expect(signaturesOf(request)).toEqual([signatureOf(request, signingSecret)])
  expect(JSON.parse(request.body)).toEqual({ type: 'ping', timestamp: ctx.clock.now().toISOString(), data: {} })
})

test('an omitted setting stays as it is, and contradictory settings are refused', async () => {
  ctx.problemOfEndpoint = createEndpointRule({ isProduction: true, allowsPrivateEndpoints: false })
  await setApp(ctx, { appId, includes: ['addresses'], categories: ['invoices'] })
  await setApp(ctx, { appId, name: 'Store' })
  expect(await getApp(ctx, { appId })).toMatchObject({
    name: 'Store',
    endpoint,
    audience: 'everyone',
    events: ['account.email_changed', 'account.withdrawn'],
    includes: ['addresses'],
    categories: ['invoices'],
  })
  for (const wrong of ['http://shop.test/hook', 'https://ada:secret@shop.test/', 'https://10.0.0.1/', null]) {
    expect([wrong, await outcomeOf(setApp(ctx, { appId, endpoint: wrong }))]).toEqual([wrong, 'REQUEST_001'])
  }
  expect(await outcomeOf(setApp(ctx, { appId: 'app_unknown', name: 'Store' }))).toBe('REQUEST_005')
  expect(await getApp(ctx, { appId })).toMatchObject({ endpoint })
})

test('an application that begins to poll leaves no event that waits for an endpoint', async () => {
  status = 503
  await changeAddress()
  expect(await getApp(ctx, { appId })).toMatchObject({ deliveries: { waiting: 1 } })
  expect(await setApp(ctx, { appId, endpoint: null, events: [] })).toMatchObject({
    deliveries: { waiting: 0, dead: 0 },
  })
})

test('an application shows when it last asked for its tasks, with any of its tokens', async () => {
  const otherId = await givenParticipant(ctx, 'other')
  const token = { name: 'worker', scopes: ['tasks:work' as const], hosts: [], appId, expiresInMs: 1_000 }
  const [old, renewed] = [await issueServiceToken(ctx, token), await issueServiceToken(ctx, token)]
  expect((await getApp(ctx, { appId })).last_asked_at).toBeNull()
  const at = ctx.clock.now()
  await ctx.db.serviceToken.update({ where: { id: old.id }, data: { lastUsedAt: new Date(0) } })
  await ctx.db.serviceToken.update({ where: { id: renewed.id }, data: { lastUsedAt: at } })
  expect((await getApp(ctx, { appId })).last_asked_at).toBe(at.toISOString())
  expect((await getApp(ctx, { appId: otherId })).last_asked_at).toBeNull()
})

test('an application whose endpoint is not allowed any more can be disabled, and removed', async () => {
  ctx.problemOfEndpoint = () => 'endpoint must have a public address.'
  expect(await setApp(ctx, { appId, disabled: true })).toMatchObject({ endpoint, disabled_at: expect.any(String) })
  expect(await removeApp(ctx, { appId })).toMatchObject({ removed: true })
})

test('an application with open tasks is removed only if a reason waives them', async () => {
  ctx.apps.answer = async () => ({ status: 503 })
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  expect(await getApp(ctx, { appId })).toMatchObject({ open_tasks: 1 })
  expect(await outcomeOf(removeApp(ctx, { appId }))).toBe('TASK_002')
  expect(await getApp(ctx, { appId })).toMatchObject({ disabled_at: null })
  expect(await removeApp(ctx, { appId, waive: 'gone' })).toMatchObject({ removed: true, waived_tasks: 1 })
  await ctx.settle()
  expect(await outcomeOf(getApp(ctx, { appId }))).toBe('REQUEST_005')
  expect(await ctx.db.deletionTask.findMany({ where: { withdrawalId } })).toMatchObject([
    { status: 'completed', waivedReason: 'gone' },
  ])
  const actions = await ctx.db.auditEvent.findMany({ where: { subjectId: appId }, orderBy: { at: 'asc' } })
  expect(actions.map(({ action }) => action).sort()).toEqual(['app.disabled', 'app.registered', 'app.removed'])
})

test('the audit tells whether an application was disabled, enabled or changed', async () => {
  const actsOf = async (changes: AppChanges) => {
    ctx.clock.advance(1_000)
    const since = ctx.clock.now()
    await setApp(ctx, { appId, ...changes })
    const acts = await actsOnApp(ctx, { appId, tasks: [], maxRows: 5 })
    return acts
      .filter(({ at }) => new Date(at) >= since)
      .map(({ action }) => action)
      .sort()
  }
  expect(await actsOf({ name: 'Store' })).toEqual(['app.changed'])
  expect(await actsOf({ disabled: true })).toEqual(['app.disabled'])
  expect(await actsOf({ disabled: true })).toEqual(['app.changed'])
  expect(await actsOf({ events: ['account.email_changed'] })).toEqual(['app.changed'])
  expect(await actsOf({ disabled: false, name: 'Shop' })).toEqual(['app.changed', 'app.enabled'])
})

test('the audit log of an application has every act on it while it exists', async () => {
  const names = Object.keys(AUDIT_ACTIONS) as AuditAction[]
  const actions = names.filter((name) => name.startsWith('app.') && name !== 'app.removed')
  for (const action of actions) await ctx.transaction((tx) => auditManager(tx, action, appId))
  const shown = (await actsOnApp(ctx, { appId, tasks: [], maxRows: 50 })).map(({ action }) => action)
  expect([...new Set(shown)].sort()).toEqual(actions.sort())
})

test('B113 the reasons of an application to waive its tasks are codes with a sentence each, and none is a common one', async () => {
  const accepts = (waive_reasons: unknown) => appSettings.partial().safeParse({ waive_reasons }).success
  const wrong = [
    'gone=Gone.',
    'other=Other.',
    'Merged=x',
    'merged',
    'merged=',
    'merged= ',
    '=x',
    'a=b\nc',
    `a=${'b'.repeat(201)}`,
  ]
  for (const one of [...wrong.map((reason) => [reason]), ['a=b', 'a=c'], 'a=b', [1]]) {
    expect(accepts(one)).toBe(false)
  }
  const reasons = ['merged=It was merged = closed.', `sold=${'ü'.repeat(200)}`]
  expect(accepts(reasons)).toBe(true)
  await setApp(ctx, { appId, waive_reasons: reasons })
  await setApp(ctx, { appId, disabled: true })
  expect(await getApp(ctx, { appId })).toMatchObject({ waive_reasons: reasons })
})

test('an application is removed with a reason also if a task ends by itself at that moment, and that one is not waived', async () => {
  ctx.apps.answer = async () => ({ status: 503 })
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  const { id } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })
  const whileEnding = atStatement(ctx, 'open-tasks-of-app', async (run) => {
    const rows = await run()
    await endTask(ctx, withdrawalId, id, 200)
    return rows
  })
  const removed = await removeApp(whileEnding, { appId, waive: 'gone' })
  expect(removed).toMatchObject({ removed: true, waived_tasks: 0 })
})

test('F38 a withdrawal that starts while an application is removed leaves no task that nobody completes', async () => {
  const user = await givenUser(ctx)
  const caller = await asUser(ctx, user)
  let removal: Promise<string> | undefined
  const whileStarting = atStatement(caller, 'queue-withdrawal-messages', async (run) => {
    const rows = await run()
    removal = outcomeOf(removeApp(ctx, { appId }))
    await Promise.race([removal, vi.waitFor(expectRemovalToWait, { timeout: 10_000 })])
    return rows
  })
  await withdrawAccount(whileStarting, { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' })
  expect(await removal).toBe('TASK_002')
  expect(await getApp(ctx, { appId })).toMatchObject({ open_tasks: 1 })
})

const expectRemovalToWait = async () =>
  expect(
    await ctx.db
      .$queryRaw`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE%'`,
  ).toHaveLength(1)

test('dead letters and delivered events can be resent, under their old ids, with the same bytes and for seven more days', async () => {
  const since = ctx.clock.now()
  await changeAddress()
  status = 500
  await changeAddress()
  await passDays(ctx, 8)
  expect(await listApps(ctx)).toMatchObject({ apps: [{ deliveries: { waiting: 0, dead: 1 } }] })
  const outcomes = async () =>
    (await listDeliveries(ctx, { appId })).deliveries.map(({ status, last_status }) => [status, last_status])
  expect(await resendEvents(ctx, { appId, since })).toBe(2)
  await ctx.settle()
  expect(await outcomes()).toEqual(Array(2).fill(['pending', 500]))
  status = 204
  await pass(ctx, 2 * day)
  expect(await outcomes()).toEqual(Array(2).fill(['delivered', 204]))
  expect(new Set(requests.map(({ headers, body }) => headers['webhook-id'] + body)).size).toBe(2)
  const [{ event_id: eventId } = { event_id: '' }] = (await listDeliveries(ctx, { appId })).deliveries
  expect(await resendEvents(ctx, { eventId })).toBe(1)
  expect(await outcomeOf(resendEvents(ctx, { eventId: 'evt_unknown' }))).toBe('REQUEST_005')
})

test('a delivery whose event ends while the list is read is left out', async () => {
  await changeAddress()
  await changeAddress()
  const { eventDelivery } = ctx.db
  // As Prisma answers where the event was deleted between its two statements.
  const findMany = async (...of: Parameters<typeof eventDelivery.findMany>) => {
    const [first, ...rows] = await eventDelivery.findMany(...of)
    return [{ ...first, event: null }, ...rows]
  }
  const meanwhile = {
    ...ctx,
    db: { ...ctx.db, eventDelivery: { ...eventDelivery, findMany } },
  } as unknown as TestContext
  expect((await listDeliveries(meanwhile, { appId })).deliveries).toHaveLength(1)
})

test('the log of deliveries keeps answer and times for thirty days', async () => {
  await changeAddress()
  expect(await listDeliveries(ctx, { appId })).toMatchObject({
    deliveries: [{ status: 'delivered', attempts: 1, last_status: 204, took_ms: expect.any(Number) }],
  })
  await pass(ctx, 30 * day)
  expect((await listDeliveries(ctx, { appId })).deliveries).toHaveLength(1)
  await pass(ctx, 1)
  expect((await listDeliveries(ctx, { appId })).deliveries).toEqual([])
})
