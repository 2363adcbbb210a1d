import { beforeEach, expect, test } from 'vitest'
import { execute } from '@/cli/execute'
import { troublesOf, troublesOfWithdrawal } from '@/contract/operator'
import type { Context } from '@/domain/context'
import { minute } from '@/domain/limits/durations'
import { asNobody, pass, passDays, type TestContext, testContext } from '@/testing/domain'
import { atStatement } from '@/testing/statements'
import { clearWithdrawals, givenParticipant, givenWithdrawal } from '@/testing/withdrawals'
import { pingApp, setApp } from '../applications/manage'
import { failingApps, listDeliveries } from '../applications/operate-deliveries'
import { retryTask, waiveTask } from '../applications/operate-tasks'
import { retryWithdrawal } from './operate-withdrawal'
import { reportOnTask } from './report-on-task'
import { showWithdrawal } from './show-withdrawal'
import { groupTroubles, problemsOf, watchOverview, watchTroubles } from './watch-overview'

let ctx: TestContext
let appId: string
beforeEach(async () => {
  ctx = await testContext()
  await clearWithdrawals(ctx)
  appId = await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', events: ['account.withdrawal_started'] })
})
const failing = async () => (await failingApps(ctx)).apps

test('an application whose deliveries fail for five minutes needs attention, until it answers or is disabled', async () => {
  ctx.apps.answer = async () => ({ status: 0, problem: 'ECONNREFUSED' })
  const since = ctx.clock.now().toISOString()
  await givenWithdrawal(ctx)
  await ctx.settle()
  expect(await failing()).toEqual([])
  await pass(ctx, 5 * minute)
  const [app] = await failing()
  expect(app).toEqual({
    app_id: appId,
    name: 'shop',
    waiting: 1,
    dead: 0,
    attempts: 2,
    since,
    last_error: 'ECONNREFUSED',
  })
  await setApp(ctx, { appId, disabled: true })
  expect(await failing()).toEqual([])
  ctx.apps.answer = async () => ({ status: 204 })
  await setApp(ctx, { appId, disabled: false })
  await pass(ctx, 60 * minute)
  expect(await failing()).toEqual([])
})

test('a delivery that failed three times needs attention at once, and so does a dead letter', async () => {
  ctx.apps.answer = async () => ({ status: 503 })
  await givenWithdrawal(ctx)
  await ctx.settle()
  await ctx.db.eventDelivery.updateMany({ where: { appId }, data: { attempts: 2 } })
  expect(await failing()).toEqual([])
  await ctx.db.eventDelivery.updateMany({ where: { appId }, data: { attempts: 3 } })
  expect(await failing()).toMatchObject([{ waiting: 1, dead: 0, last_error: 'HTTP 503' }])
  expect(problemsOf(await watchTroubles(ctx))).toEqual(new Map([[appId, { failing: 'HTTP 503', late_since: null }]]))
  expect(await execute(ctx, ['app', 'list'], null)).toMatchObject({ apps: [{ app_id: appId, failing: 'HTTP 503' }] })
  await passDays(ctx, 8)
  expect(await failing()).toMatchObject([{ waiting: 0, dead: 1 }])
})

test('a disabled application needs attention also while nothing waits for it', async () => {
  await setApp(ctx, { appId, disabled: true })
  const disabled = { app_id: appId, deliveries: null, tasks: [], unreliable: { disabled_at: expect.any(String) } }
  expect(groupTroubles(await watchTroubles(ctx)).apps).toMatchObject([disabled])
  await setApp(ctx, { appId, disabled: false })
  expect(groupTroubles(await watchTroubles(ctx)).apps).toEqual([])
})

test('an application that leaves its deletion tasks is named with what is wrong, in the list and by itself', async () => {
  const poller = await givenParticipant(ctx, 'poller', { endpoint: null })
  const { withdrawalId } = await givenWithdrawal(ctx)
  for (let hours = 0; hours < 25; hours++) await pass(ctx, 60 * minute)
  const failing = 'late, has not asked for its deletion tasks'
  expect(problemsOf(await watchTroubles(ctx))).toEqual(new Map([[poller, { failing, late_since: expect.any(String) }]]))
  const named = { app_id: poller, failing }
  expect(await execute(ctx, ['app', 'show', poller], null)).toMatchObject(named)
  const { apps } = (await execute(ctx, ['app', 'list'], null)) as { apps: object[] }
  expect(apps).toContainEqual(expect.objectContaining(named))

  // One that said that it failed is given the task again later, and has left nothing until then.
  const seen = async () => groupTroubles(await watchTroubles(ctx)).apps
  const step = await ctx.db.deletionStep.findFirstOrThrow({ where: { withdrawalId, step: 'third_party_integrations' } })
  const planned = step.estimatedCompletion.toISOString()
  expect(await seen()).toMatchObject([{ app_id: poller, leaves_tasks: true }])
  expect((await seen()).map(troublesOf)).toMatchObject([{ failing: false, late: planned }])
  expect(troublesOfWithdrawal(await showWithdrawal(ctx, withdrawalId))).toMatchObject({ failing: false, late: planned })
  const later = new Date(ctx.clock.now().getTime() + minute)
  await ctx.db.deletionTask.updateMany({
    where: { appId: poller },
    data: { attempts: 1, firstTriedAt: ctx.clock.now(), lastError: 'failed', dueAt: later },
  })
  expect(await seen()).toMatchObject([{ app_id: poller, leaves_tasks: false }])
  expect((await seen()).map(troublesOf)).toMatchObject([{ failing: true, late: planned }])
  expect(troublesOfWithdrawal(await showWithdrawal(ctx, withdrawalId))).toMatchObject({ failing: true, late: planned })
})

test('a deletion that waits for a disabled application needs attention under that application', async () => {
  ctx.apps.answer = async () => ({ status: 202 })
  const mail = await givenParticipant(ctx, 'mail', { acknowledges: 'later' })
  await setApp(ctx, { appId, disabled: true })
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, 2 * 60 * minute)
  const { apps, others } = groupTroubles(await watchOverview(ctx))
  expect(apps).toMatchObject([
    { app_id: appId, deliveries: null, tasks: [{ withdrawal_id: withdrawalId, is_app_disabled: true }] },
  ])
  expect(others).toMatchObject([{ app_id: mail, withdrawal_id: withdrawalId }])

  // Its task is due at once, and nobody has called it when the operator looks.
  await setApp(ctx, { appId, disabled: false })
  await ctx.settle()
  const enabled = groupTroubles(await watchOverview(ctx))
  expect([enabled.apps, enabled.others.map(({ app_id }) => app_id)]).toEqual([
    [],
    expect.arrayContaining([appId, mail]),
  ])
})

test.each([
  ['user_profile', { state: 'pending', attempts: 0, is_app_disabled: true }],
  ['third_party_integrations', { state: 'accepted', attempts: 1, last_error: null }],
] as const)(
  '%s that is late because it waits for an application is listed under that application alone',
  async (phase, task) => {
    await clearWithdrawals(ctx)
    ctx.apps.answer = async () => ({ status: 202 })
    const slow = await givenParticipant(ctx, 'slow', { acknowledges: 'later', phase })
    await setApp(ctx, { appId: slow, disabled: phase === 'user_profile' })
    const { withdrawalId } = await givenWithdrawal(ctx)
    const seen = async () => groupTroubles(await watchOverview(ctx))
    ctx.clock.advance(2 * 24 * 60 * minute)
    // Nobody has run anything, so that nothing waits for the application yet.
    const { troubled } = await watchOverview(ctx)
    expect(troubled?.withdrawals).toMatchObject([{ withdrawal_id: withdrawalId, tasks: [] }])
    await pass(ctx, 0)
    const waiting = {
      app_id: slow,
      late_since: expect.any(String),
      deliveries: null,
      tasks: [{ withdrawal_id: withdrawalId, phase, ...task }],
    }
    expect((await watchOverview(ctx)).troubled?.withdrawals[0]?.deletion_steps).toMatchObject([
      { step: phase, is_overdue: true },
    ])
    expect(await seen()).toMatchObject({ apps: [waiting], withdrawals: [], others: [] })
  },
)

test('the application that holds a withdrawal up past its due date stands before one that holds up more', async () => {
  await clearWithdrawals(ctx)
  ctx.apps.answer = async () => ({ status: 503 })
  const late = await givenParticipant(ctx, 'late')
  const { withdrawalId } = await givenWithdrawal(ctx)
  const many = await givenParticipant(ctx, 'many')
  for (let more = 0; more < 2; more++) await givenWithdrawal(ctx)
  await ctx.db.deletionTask.deleteMany({ where: { appId: late, withdrawalId: { not: withdrawalId } } })
  await pass(ctx, 60 * minute)
  const seen = async () => groupTroubles(await watchTroubles(ctx)).apps.map(({ app_id }) => app_id)
  expect(await seen()).toEqual([many, late])
  await ctx.db.withdrawal.update({ where: { id: withdrawalId }, data: { dueBy: ctx.clock.now() } })
  expect(await seen()).toEqual([late, many])
  expect(groupTroubles(await watchTroubles(ctx)).apps).toMatchObject([{ is_past_due: true }, { is_past_due: false }])
})

test('a deletion task and an event say when somebody had them tried again and they failed again, and only then', async () => {
  await clearWithdrawals(ctx)
  const appId = await givenParticipant(ctx, 'shop', { events: ['account.withdrawal_started'] })
  ctx.apps.answer = async () => ({ status: 503 })
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, 60 * minute)
  const seen = async () => {
    const { tasks, deliveries } = await showWithdrawal(ctx, withdrawalId)
    const listed = await listDeliveries(ctx, { appId })
    expect(deliveries).toEqual(listed.deliveries)
    return [tasks[0]?.retried_at, deliveries[0]?.retried_at]
  }
  expect(await seen()).toEqual([null, null])
  ctx.clock.advance(1)
  const taskAt = ctx.clock.now().toISOString()
  await retryTask(ctx, { taskId: (await ctx.db.deletionTask.findFirstOrThrow()).id })
  // Nobody has called it yet.
  expect(await seen()).toEqual([null, null])
  await pass(ctx, minute)
  expect(await seen()).toEqual([taskAt, null])
  const allAt = ctx.clock.now().toISOString()
  await retryWithdrawal(ctx, { withdrawalId })
  expect(await seen()).toEqual([null, null])
  await pass(ctx, minute)
  expect(await seen()).toEqual([allAt, allAt])
})

test('an application that fails stands before one that is disabled, though that holds up more', async () => {
  await clearWithdrawals(ctx)
  ctx.apps.answer = async () => ({ status: 503 })
  const off = await givenParticipant(ctx, 'off')
  await setApp(ctx, { appId: off, disabled: true })
  await givenWithdrawal(ctx)
  const fails = await givenParticipant(ctx, 'fails')
  await givenWithdrawal(ctx)
  await pass(ctx, 60 * minute)
  expect(groupTroubles(await watchTroubles(ctx)).apps).toMatchObject([
    { app_id: fails, problem: 'HTTP 503', tasks: [{}] },
    { app_id: off, problem: null, tasks: [{}, {}] },
  ])
})

test('an application that fails stands before one that is late, and one that is disabled does not fail', async () => {
  await clearWithdrawals(ctx)
  ctx.apps.answer = async () => ({ status: 503 })
  await givenParticipant(ctx, 'poller', { endpoint: null })
  await givenWithdrawal(ctx)
  for (let hours = 0; hours < 25; hours++) await pass(ctx, 60 * minute)
  const fails = await givenParticipant(ctx, 'fails')
  await givenWithdrawal(ctx)
  await pass(ctx, 120 * minute)
  const seen = async () => groupTroubles(await watchTroubles(ctx)).apps
  expect((await seen()).map(({ name }) => name)).toEqual(['fails', 'poller'])
  await setApp(ctx, { appId: fails, disabled: true })
  expect((await seen()).map((app) => [app.name, troublesOf(app).failing])).toEqual([
    ['poller', false],
    ['fails', false],
  ])
})

test('a step that fails by itself is listed by itself, also where an application has accepted its task', async () => {
  await clearWithdrawals(ctx)
  ctx.apps.answer = async () => ({ status: 202 })
  await givenParticipant(ctx, 'slow', { acknowledges: 'later', phase: 'data_archives' })
  const { withdrawalId } = await givenWithdrawal(ctx)
  ctx.archives.delete = () => Promise.reject(new Error('away'))
  for (let hours = 1; hours < 24; hours++) await pass(ctx, 60 * minute)
  await expect(pass(ctx, 60 * minute)).rejects.toThrow()
  const { apps, withdrawals } = groupTroubles(await watchOverview(ctx))
  expect([apps, withdrawals]).toMatchObject([[], [{ withdrawal_id: withdrawalId }]])
})

test.each<[string, () => Promise<unknown>]>([
  ['a good answer to a ping', () => pingApp(ctx, { appId })],
  ['a deletion that it does', () => givenWithdrawal(ctx).then(() => pass(ctx, 2 * 60 * minute))],
  ['its report that a deletion is done', reportDone],
])('an application that failed when an operator stopped waiting needs attention until %s', async (_what, heal) => {
  ctx.apps.answer = async () => ({ status: 503 })
  await setApp(ctx, { appId, events: [] })
  await givenWithdrawal(ctx)
  await pass(ctx, 2 * 60 * minute)
  const task = await ctx.db.deletionTask.findFirstOrThrow({ where: { appId } })
  await waiveTask(ctx, { taskId: task.id, reason: 'gone' })
  const at = ctx.clock.now().toISOString()
  await pass(ctx, 60 * minute)
  await pingApp(ctx, { appId })
  expect(groupTroubles(await watchTroubles(ctx)).apps).toMatchObject([
    { app_id: appId, tasks: [], unreliable: { waived_at: at, waived_error: 'HTTP 503' } },
  ])
  expect(await execute(ctx, ['app', 'list'], null)).toMatchObject({ apps: [{ app_id: appId, failing: 'HTTP 503' }] })
  ctx.apps.answer = async () => ({ status: 204 })
  await heal()
  expect(groupTroubles(await watchTroubles(ctx)).apps).toEqual([])
})

test.each([
  ['troubled-withdrawals', 'troubled'],
  ['failing-apps', 'failing'],
  ['unreliable-apps', 'unreliable'],
  ['count-open-tasks', 'tasks'],
  ['oldest-open-tasks', 'tasks'],
] as const)('of the overview, %s that the database does not answer in time leaves out %s alone', async (name, part) => {
  const whole = await watchOverview(ctx)
  const seen = await watchOverview(atStatement(ctx, name, () => Promise.reject(new Error('statement timeout'))))
  expect(seen).toEqual({ ...whole, [part]: null })
  expect(ctx.warnings.at(-1)).toMatchObject({ event: 'figures_unknown' })
})

test('a count of withdrawals that the database does not answer in time leaves out that count alone', async () => {
  const late = atStatement(ctx, 'count-purged-withdrawals', () => Promise.reject(new Error('timeout')))
  const { figures } = await watchOverview(late)
  expect(figures).toMatchObject({ processing: 0, completed: 0, purged: null })
})

async function reportDone() {
  ctx.apps.answer = async () => ({ status: 202 })
  await setApp(ctx, { appId, acknowledges: 'later' })
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, 2 * 60 * minute)
  const { id } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })
  await reportOnTask(asNobody(ctx) as unknown as Context, { taskId: id, status: 'completed' })
}
