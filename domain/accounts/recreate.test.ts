import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '@/contract/errors'
import { EVENT_TYPES } from '@/contract/vocabulary'
import { asService, pass, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { outcomeOf, tablesWith, tally } from '@/testing/outcomes'
import { clearWithdrawals, givenParticipant, withdrawalOf } from '@/testing/withdrawals'
import { connectApp } from '../applications/connect'
import { beginDueDeliveries } from '../applications/deliveries'
import { setApp } from '../applications/manage'
import { waiveTask } from '../applications/operate-tasks'
import { takeTasks } from '../applications/take-tasks'
import { endUserSessions } from '../sessions/end-user-sessions'
import { withdrawUser } from '../withdrawal/withdraw-account'
import { putUser } from './put-user'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

interface Message {
  app: string
  type: string
  data: { subject: string; account: string; version?: number; withdrawal_id?: string }
}

let ctx: TestContext
/** What the applications got, and the status of the answer of each by its name. */
let sent: Message[]
let answers: Record<string, number>
let externalId: string

beforeEach(async () => {
  ctx = await testContext()
  await clearWithdrawals(ctx)
  sent = []
  answers = {}
  ctx.apps.answer = async ({ endpoint, body }) => {
    const app = new URL(endpoint).host.replace('.test', '')
    const { type, data } = JSON.parse(body)
    sent.push({ app, type, data })
    const isCheck = type === 'account.withdrawal_check'
    return isCheck ? { status: 200, body: '{"blockers":[]}' } : { status: answers[app] ?? 204 }
  }
  externalId = ctx.secrets.randomId('customer-')
})
afterEach(() => ctx.settle())

const put = (body: object = {}, id = externalId) =>
  putUser(asService(ctx), { externalId: id, email: `${id}@example.test`, name: 'Ada', ...body })
const recreate = (body: object = {}) => put({ recreate: true, ...body })
const refusal = async (call: Promise<unknown>): Promise<AppError> => {
  const error = await call.catch((error: unknown) => error)
  if (!(error instanceof AppError)) throw new Error('the call was not refused')
  return error
}
async function withdraw(id = externalId) {
  const body = { confirmation: 'DELETE_MY_ACCOUNT', requested_by: 'support' } as const
  const { withdrawal_id, user_id } = await withdrawUser(asService(ctx), { externalId: id, ...body })
  await ctx.settle()
  return { withdrawalId: withdrawal_id, userId: user_id }
}
const versionOf = async (userId: string) => (await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })).version
const tasksOf = (withdrawalId: string) => ctx.db.deletionTask.findMany({ where: { withdrawalId } })

test('B49 an external id is not used again while an application still has to delete the former account, and then it is', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once' })
  await put()
  const { withdrawalId } = await withdraw()
  const refused = await refusal(recreate())
  expect([refused.code, refused.retryAfterSeconds]).toEqual(['USER_002', 3600])
  expect(refused.details).toContain('One application has still to be told')
  expect(refused.details).toContain(withdrawalId)
  expect((await refusal(put())).details).toContain('"recreate": true')
  await pass(ctx, hour)
  expect((await recreate()).created).toBe(true)
})

test('when the retention is over, it is held up until the purge has run, which clears what an open order calls the person', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once' })
  answers = { shop: 503 }
  await put()
  const { withdrawalId } = await withdraw()
  ctx.clock.advance(30 * day)
  expect([await outcomeOf(put()), await outcomeOf(recreate())]).toEqual(['USER_002', 'USER_002'])
  await runDueWork(ctx)
  expect(await tasksOf(withdrawalId)).toMatchObject([{ status: 'processing', sealedSubject: null }])
  expect((await put()).created).toBe(true)
})

test('it is held up by applications that accepted, that poll and that are disabled, and by none that was waived or has its own id', async () => {
  const [later_, polls, disabled] = [
    await givenParticipant(ctx, 'accepts'),
    await givenParticipant(ctx, 'polls', { endpoint: null }),
    await givenParticipant(ctx, 'disabled'),
  ]
  const own = await givenParticipant(ctx, 'own', { audience: 'connected' })
  answers = { accepts: 202, own: 500 }
  const { user_id: userId } = await put()
  await connectApp(ctx, { userId, appId: own, subject: externalId })
  await setApp(ctx, { appId: disabled, disabled: true })
  const { withdrawalId } = await withdraw()
  await pass(ctx, hour)
  for (const [left, appId] of [polls, disabled, later_].entries()) {
    const { code, details, retryAfterSeconds } = await refusal(recreate())
    expect([code, retryAfterSeconds]).toEqual(['USER_002', undefined])
    expect(details).toContain(left === 2 ? 'One application has' : `${3 - left} applications have`)
    const task = (await tasksOf(withdrawalId)).find((row) => row.appId === appId)
    await waiveTask(ctx, { taskId: task?.id ?? '', reason: 'gone' })
  }
  expect((await recreate()).created).toBe(true)
  expect((await tasksOf(withdrawalId)).filter(({ status }) => status !== 'completed')).toMatchObject([{ appId: own }])
})

test('it is held up by an event of the former account that an application of everyone was not told, whose task is over', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', events: ['account.withdrawal_started'] })
  await givenParticipant(ctx, 'gone', { events: ['account.withdrawal_started'] })
  answers = { shop: 503, gone: 503 }
  await put()
  const { withdrawalId } = await withdraw()
  const [gone] = (await tasksOf(withdrawalId)).filter(({ appName }) => appName === 'gone')
  await waiveTask(ctx, { taskId: gone?.id ?? '', reason: 'gone' })
  await ctx.db.deletionTask.updateMany({
    where: { withdrawalId, appName: 'shop' },
    data: { status: 'completed', dueAt: null, sealedSubject: null },
  })
  const { code, details, retryAfterSeconds } = await refusal(recreate())
  expect([code, details.slice(0, 19)]).toEqual(['USER_002', 'One application has'])
  expect(retryAfterSeconds).toBeGreaterThan(0)
  answers.shop = 204
  ctx.clock.advance(minute)
  await beginDueDeliveries(ctx)
  await ctx.settle()
  expect((await recreate()).created).toBe(true)
})

test('every message names the account, also what is told after the account was erased and after the purge', async () => {
  const settings = { acknowledges: 'at_once' as const, events: [...EVENT_TYPES] }
  await givenParticipant(ctx, 'shop', settings)
  const polls = await givenParticipant(ctx, 'polls', { endpoint: null })
  const own = await givenParticipant(ctx, 'own', { ...settings, audience: 'connected', checks: true })
  const { user_id: userId } = await put()
  await connectApp(ctx, { userId, appId: own, subject: 'own id' })
  answers.own = 503
  await endUserSessions(asService(ctx), { externalId })
  const { withdrawalId } = await withdraw()
  await pass(ctx, hour)
  const service = asService(ctx)
  const worker = { ...service, actor: { ...service.actor, service: { name: 'worker', hosts: [], appId: polls } } }
  const { tasks } = await takeTasks(worker, { app: polls })
  expect(tasks).toMatchObject([{ subject: externalId, account: userId }])
  await waiveTask(ctx, { taskId: tasks[0]?.id ?? '', reason: 'gone' })
  for (const ms of [day, 6 * day, 23 * day]) await pass(ctx, ms)
  expect((await withdrawalOf(ctx, withdrawalId)).userId).toBeNull()
  expect(await tablesWith(ctx, userId)).toEqual([])
  answers.own = 204
  await pass(ctx, day)
  const types = new Set(sent.map(({ type }) => type))
  expect([...types].sort()).toEqual([
    'account.purged',
    'account.sessions_ended',
    'account.withdrawal_check',
    'account.withdrawal_started',
    'account.withdrawn',
  ])
  expect(sent.filter(({ data }) => data.account !== userId)).toEqual([])
  const orders = sent.filter(({ app, type }) => app === 'own' && type === 'account.withdrawn')
  expect(orders.at(-1)?.data).toEqual({ withdrawal_id: withdrawalId, subject: 'own id', account: userId })
  expect(await tasksOf(withdrawalId)).toEqual([])
})

test('versions of a person who came back stand above all that is told of the former account, as often as they come back', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', events: [...EVENT_TYPES] })
  await put()
  const first = await versionOf((await put()).user_id)
  expect(first).toBe(0)
  for (let times = 1; times <= 2; times++) {
    await withdraw()
    await pass(ctx, hour)
    const { user_id: userId } = await recreate({ email: `${externalId}-${times}@example.test` })
    await endUserSessions(asService(ctx), { externalId })
    await ctx.settle()
    const ofNew = sent.filter(({ data }) => data.account === userId).map(({ data }) => data.version)
    expect(ofNew).toHaveLength(1)
  }
  for (const ms of [day, 6 * day, 23 * day]) await pass(ctx, ms)
  const accounts = [...new Set(sent.map(({ data }) => data.account))]
  const versions = accounts.map((account) =>
    sent.flatMap(({ data }) => (data.account === account && data.version !== undefined ? data.version : [])),
  )
  expect(accounts).toHaveLength(3)
  for (const [index, former] of versions.slice(0, -1).entries()) {
    expect(Math.min(...(versions[index + 1] ?? []))).toBeGreaterThan(Math.max(...former))
  }
})

test('an account that takes the external id of a withdrawn one goes on above its versions, and waits likewise', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once' })
  const formerId = (await put()).user_id
  await ctx.db.user.update({ where: { id: formerId }, data: { version: 40 } })
  const { user_id: named } = await put({}, ctx.secrets.randomId('other-'))
  await ctx.db.user.update({ where: { id: named }, data: { externalId: null } })
  await withdraw()
  const take = () => putUser(asService(ctx), { externalId, user_id: named, recreate: true })
  expect(await outcomeOf(take())).toBe('USER_002')
  await pass(ctx, hour)
  expect((await take()).created).toBe(false)
  expect(await versionOf(named)).toBe(44)
})

test('calls at the same time as the end of the last task create one account, and none before that end', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once' })
  await put()
  const { withdrawalId } = await withdraw()
  ctx.clock.advance(hour)
  const untilCreated = async (n: number) => {
    let outcome = ''
    do outcome = await outcomeOf(recreate({ email: `${externalId}@example.test`, name: `Ada ${n}` }))
    while (outcome === 'USER_002')
    const [task] = await tasksOf(withdrawalId)
    return `${outcome} after ${task?.status}`
  }
  const creating = Promise.all(Array.from({ length: 20 }, (_, n) => untilCreated(n)))
  await runDueWork(ctx)
  expect(tally(await creating)).toEqual({ 'accepted after completed': 20 })
  expect(await ctx.db.user.count({ where: { externalId, withdrawnAt: null } })).toBe(1)
})
