import { beforeEach, expect, test } from 'vitest'
import type { ServiceScope } from '@/contract/define'
import { APP_PHASES, type Step } from '@/contract/withdrawal'
import { createSecrets } from '@/server/adapters/secrets'
import { lookalikesOf } from '@/testing/account'
import { call, day, hour, minute } from '@/testing/api-calls'
import { givenServiceToken } from '@/testing/callers'
import { givenUser, pass, runDueWork, type TestContext } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { DUE_TIMES } from '@/testing/later-steps'
import { outcomeOf, tablesWith, tally } from '@/testing/outcomes'
import { atStatement } from '@/testing/statements'
import {
  clearWithdrawals,
  givenParticipant,
  givenWithdrawal,
  readProgress,
  stepOf,
  withdrawAs,
  withdrawalOf,
} from '@/testing/withdrawals'
import { runDueSteps } from '../due-work'
import { createProcess } from '../process'
import { retryWithdrawal } from '../withdrawal/operate-withdrawal'
import { runDeletionStep } from '../withdrawal/run-deletion-step'
import { showWithdrawal } from '../withdrawal/show-withdrawal'
import { createStatusToken } from '../withdrawal/status-token'
import { DELETION_STEPS, erasesAfterTasks } from '../withdrawal/steps/deletion-steps'
import { listTasks } from './list-tasks'
import { removeApp, setApp } from './manage'
import { retryTask, waiveTask } from './operate-tasks'
import { reportPlaceOf } from './task-token'

const second = 1_000
let ctx: TestContext
/** The messages to applications, and the answer of each by its name. */
let sent: { name: string; id: string; data: Record<string, unknown> & { task?: Record<string, string> } }[]
let answers: Record<string, () => number | Promise<number>>

beforeEach(async () => {
  ctx = await installed()
  await clearWithdrawals(ctx)
  sent = []
  answers = {}
  ctx.apps.answer = async ({ endpoint, body, headers }) => {
    const name = new URL(endpoint).host.replace('.test', '')
    sent.push({ name, id: headers['webhook-id'] ?? '', ...JSON.parse(body) })
    return { status: (await answers[name]?.()) ?? 204 }
  }
})

/** A withdrawal with one task, whose application answers with this status. */
async function givenTask(status = 202, settings: Parameters<typeof givenParticipant>[2] = {}) {
  const appId = await givenParticipant(ctx, 'shop', settings)
  answers.shop = () => status
  const user = await givenWithdrawal(ctx)
  const { id } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId: user.withdrawalId } })
  return { ...user, appId, id, token: reportPlaceOf(ctx, id).report_token }
}
type Task = Awaited<ReturnType<typeof givenTask>>

async function givenAcceptedTask(settings: Parameters<typeof givenParticipant>[2] = {}) {
  const task = await givenTask(202, settings)
  await pass(ctx, hour)
  expect(await stateOf(task)).toBe('accepted')
  return task
}

const rowOf = ({ id }: Pick<Task, 'id'>) => ctx.db.deletionTask.findUniqueOrThrow({ where: { id } })
const stateOf = async ({ id, withdrawalId }: Task) =>
  (await listTasks(ctx, { withdrawalId })).tasks.find(({ task_id }) => task_id === id)?.state
const stepOfTask = ({ withdrawalId }: Pick<Task, 'withdrawalId'>, step: Step = 'third_party_integrations') =>
  stepOf(ctx, withdrawalId, step)
const report = ({ id, token }: Pick<Task, 'id' | 'token'>, body: object, more: object = {}) =>
  call({ userId: '', token }, 'reportOnTask', { ids: { taskId: id }, body, ...more })
const progressOf = async ({ userId, withdrawalId }: Task) =>
  (await readProgress(ctx, userId, withdrawalId)).applications

test('an application for everyone gets a person without a connection by the external id, which is stored sealed', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once' })
  const [known, unknown] = [await givenUser(ctx), await givenUser(ctx)]
  await ctx.db.user.update({ where: { id: known.userId }, data: { externalId: 'customer canary 42' } })
  for (const user of [known, unknown]) await withdrawAs(ctx, user)
  await pass(ctx, 6 * minute)
  expect(await tablesWith(ctx, 'customer canary 42')).toEqual([])
  expect(sent).toEqual([])
  await pass(ctx, hour)
  expect(sent.map(({ data }) => data.subject).sort()).toEqual(['customer canary 42', unknown.userId])
  expect(sent[0]?.data).not.toHaveProperty('task')
  expect(await ctx.db.deletionTask.count({ where: { NOT: { sealedSubject: null } } })).toBe(0)
})

test('an application for everyone that is connected too gets one task', async () => {
  const user = await givenUser(ctx)
  const appId = await givenParticipant(ctx, 'shop')
  await ctx.db.appConnection.create({
    data: { id: `con_${appId}`, userId: user.userId, appId, subject: 'own', connectedAt: ctx.clock.now() },
  })
  await withdrawAs(ctx, user)
  await pass(ctx, hour)
  expect(sent.map(({ data }) => data.subject)).toEqual([user.userId])
  expect(await ctx.db.appConnection.count({ where: { appId } })).toBe(0)
})

test.each(APP_PHASES)(
  'a task of the phase %s is asked for in its window, and keeps that step alone open',
  async (phase) => {
    const task = await givenTask(202, { phase })
    const begins = DELETION_STEPS[phase].window.dueMs
    await pass(ctx, begins - 1)
    expect(sent).toEqual([])
    await pass(ctx, 1)
    expect(sent.map(({ id }) => id)).toEqual([task.id])
    ctx.clock.advance(Math.max(...DUE_TIMES) + minute - begins)
    answers.shop = () => 202
    await runDueWork(ctx)
    const open = await ctx.db.deletionStep.findMany({
      where: { withdrawalId: task.withdrawalId, NOT: { status: 'completed' } },
    })
    expect(open.map(({ step }) => step)).toEqual([phase])
    // The step's own part waits for no task, but for the third parties' own.
    if (!erasesAfterTasks(phase)) expect(open[0]?.erasedAt).not.toBeNull()
    expect(await ctx.db.user.count({ where: { id: task.userId } })).toBe(0)
    expect((await report(task, { status: 'completed' })).data).toEqual({ task_id: task.id, status: 'completed' })
    await ctx.settle()
    expect((await withdrawalOf(ctx, task.withdrawalId)).completedAt).toEqual(ctx.clock.now())
  },
)

/** The applications of which the person still has a connection, and shared items. */
async function tiesOf(userId: string) {
  const apps = await ctx.db.connectedApp.findMany()
  const connections = await ctx.db.appConnection.findMany({ where: { userId } })
  const items = await ctx.db.sharedItem.findMany({ where: { userId } })
  return [connections, items].map((rows) => rows.map(({ appId }) => apps.find(({ id }) => id === appId)?.name))
}

test('a completed task deletes connection and shared items, whatever another application answers', async () => {
  const bystander = await givenWithdrawal(ctx, ['shop'])
  const { userId, withdrawalId } = await givenWithdrawal(ctx, ['shop', 'gone', 'unknown', 'stuck'])
  answers = { gone: () => 410, unknown: () => 404, stuck: () => 503 }
  ctx.clock.advance(hour)
  await runDeletionStep(ctx, { withdrawalId, step: 'third_party_integrations' })
  expect(await tiesOf(userId)).toEqual([['stuck'], ['stuck']])
  expect(await tiesOf(bystander.userId)).toEqual([['shop'], ['shop']])
  answers = {}
  ctx.clock.advance(10 * second)
  expect(await runDeletionStep(ctx, { withdrawalId, step: 'third_party_integrations' })).toBeNull()
  expect(await tiesOf(userId)).toEqual([[], []])
})

test('a failing erasure keeps no application from its task', async () => {
  const task = await givenTask(204, { phase: 'data_archives' })
  ctx.archived.clear()
  ctx.archives.exists = async () => false
  ctx.clock.advance(day)
  for (let n = 0; n < 3; n++) {
    await runDueWork(ctx).catch(() => {})
    ctx.clock.advance(minute)
  }
  expect(sent.map(({ id }) => id)).toEqual([task.id])
  expect(await stateOf(task)).toBe('completed')
  expect((await stepOfTask(task, 'data_archives')).status).toBe('processing')
})

test.each([
  ['at_once', 202, 'completed'],
  ['at_once', 206, 'completed'],
  ['later', 202, 'accepted'],
  ['later', 200, 'completed'],
  ['later', 204, 'completed'],
  ['later', 404, 'completed'],
  ['later', 410, 'completed'],
  ['later', 201, 'pending'],
  ['later', 500, 'pending'],
] as const)(
  'only an application that acknowledges later accepts with 202, and only a few statuses end its task: %s, %d, %s',
  async (acknowledges, status, state) => {
    const task = await givenTask(status, { acknowledges })
    await pass(ctx, hour)
    expect(await stateOf(task)).toBe(state)
  },
)

test('of the tasks of a withdrawal those that fail stand first, with the first try that failed', async () => {
  for (const name of ['archive', 'billing', 'shop', 'zoo']) await givenParticipant(ctx, name)
  answers = { archive: () => 204, billing: () => 202, shop: () => 503, zoo: () => 503 }
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  const failedAt = ctx.clock.now().toISOString()
  await pass(ctx, minute)
  const { tasks } = await listTasks(ctx, { withdrawalId })
  expect(tasks.map(({ name, failing_since }) => [name, failing_since])).toEqual([
    ['shop', failedAt],
    ['zoo', failedAt],
    ['billing', null],
    ['archive', null],
  ])
})

test('the message to an application that acknowledges later names the due date, the report URL and the token', async () => {
  const task = await givenAcceptedTask()
  const { estimatedCompletion } = await stepOfTask(task)
  expect(sent[0]).toEqual({
    name: 'shop',
    id: task.id,
    type: 'account.withdrawn',
    timestamp: '2026-11-20T09:00:00.000Z',
    data: {
      withdrawal_id: task.withdrawalId,
      subject: task.userId,
      account: task.userId,
      task: {
        id: task.id,
        due_by: estimatedCompletion.toISOString(),
        report_to: `https://accounts.test/api/v1/tasks/${task.id}`,
        report_token: expect.stringMatching(/^dtk_[\w-]{43}$/),
      },
    },
  })
  expect(await tablesWith(ctx, task.token.slice(4))).toEqual([])
})

test('the token of a task follows CODE_SECRET: the newest secret signs, and every configured one is accepted', async () => {
  const task = await givenAcceptedTask()
  ctx.secrets = createSecrets({
    auth: ['auth-secret-for-tests'],
    code: ['a-newer-code-secret', 'code-secret-for-tests'],
  })
  expect(reportPlaceOf(ctx, task.id).report_token).not.toBe(task.token)
  expect((await report(task, { status: 'processing' })).code).toBe('accepted')
  ctx.secrets = createSecrets({ auth: ['auth-secret-for-tests'], code: ['a-newer-code-secret'] })
  expect((await report(task, { status: 'processing' })).code).toBe('TASK_001')
})

test('progress is shown as reported, extends the time-out, and never goes back within a try', async () => {
  const task = await givenAcceptedTask({ acknowledge_within_seconds: 600 })
  expect(await progressOf(task)).toEqual([
    {
      name: 'shop',
      status: 'processing',
      accepted_at: ctx.clock.now().toISOString(),
      next_attempt_at: new Date(ctx.clock.now().getTime() + 600 * second).toISOString(),
    },
  ])
  ctx.clock.advance(599 * second)
  expect((await report(task, { status: 'processing', progress: { done: 3, total: 10 } })).code).toBe('accepted')
  expect(await progressOf(task)).toMatchObject([{ progress: { done: 3, total: 10 } }])
  const back = await report(task, { status: 'processing', progress: { done: 2, total: 10 } })
  expect([back.code, back.details]).toEqual(['REQUEST_001', 'progress.done must not go back: it was 3.'])
  expect((await report(task, { status: 'processing', progress: { done: 3, total: 12 } })).code).toBe('accepted')
  await pass(ctx, 600 * second - 1)
  expect(sent).toHaveLength(1)
  expect(await stateOf(task)).toBe('accepted')
  // A millisecond later the same message is sent again, and its try begins without progress.
  ctx.clock.advance(1)
  expect(await stateOf(task)).toBe('pending')
  answers.shop = () => 503
  await runDueWork(ctx)
  expect(sent.map(({ id }) => id)).toEqual([task.id, task.id])
  expect(sent[1]).toEqual(sent[0])
  expect(await progressOf(task)).toEqual([{ name: 'shop', status: 'processing', next_attempt_at: expect.any(String) }])
  expect((await report(task, { status: 'processing', progress: { done: 2, total: 10 } })).code).toBe('accepted')
  // A deletion that is done is not kept open by its count.
  expect((await report(task, { status: 'completed', progress: { done: 1, total: 10 } })).code).toBe('accepted')
  expect(await rowOf(task)).toMatchObject({ status: 'completed', progressDone: 2, progressTotal: 10 })
})

test('a failed task is asked for again with back-off, under the same id', async () => {
  const task = await givenAcceptedTask()
  expect((await report(task, { status: 'failed', code: 'lock timeout' })).data.status).toBe('pending')
  expect(await rowOf(task)).toMatchObject({
    failureCode: 'lock timeout',
    acceptedAt: null,
    lastError: 'reported_failed',
  })
  await pass(ctx, 4 * second)
  expect(sent).toHaveLength(1)
  await pass(ctx, 3 * second)
  expect(sent.map(({ id }) => id)).toEqual([task.id, task.id])
  expect(await stateOf(task)).toBe('accepted')
})

test.each([
  ['processing', 'accepted'],
  ['completed', 'completed'],
  ['failed', 'pending'],
] as const)(
  'F34 a report (%s) that comes before our own row says accepted counts (%s), and the late 202 changes nothing',
  async (status, state) => {
    const task = await givenTask()
    answers.shop = async () => {
      expect((await report(task, { status, progress: { done: 1, total: 2 } })).code).toBe('accepted')
      return 202
    }
    await pass(ctx, hour)
    expect(await stateOf(task)).toBe(state)
    if (status === 'processing') expect(await rowOf(task)).toMatchObject({ progressDone: 1 })
  },
)

test('F35 another instance repeats the call of a dead one under the same id, and the late answer changes nothing', async () => {
  const task = await givenTask()
  let answer = (_status: number) => {}
  answers.shop = () =>
    new Promise<number>((resolve) => {
      answer = resolve
    })
  ctx.clock.advance(hour)
  const dying = runDeletionStep(ctx, { withdrawalId: task.withdrawalId, step: 'third_party_integrations' })
  await expect.poll(() => sent.length).toBe(1)
  expect(await stateOf(task)).toBe('calling')
  const other: TestContext = { ...ctx, process: createProcess() }
  answers.shop = () => 202
  await runDueWork(other)
  expect(sent).toHaveLength(1)
  ctx.clock.advance(21 * second)
  await runDueWork(other)
  expect(sent.map(({ id }) => id)).toEqual([task.id, task.id])
  const { dueAt, acceptedAt } = await rowOf(task)
  ctx.clock.advance(second)
  answer(503)
  await dying
  expect(await rowOf(task)).toMatchObject({ dueAt, acceptedAt, lastError: null })
})

test("L25 only a task's own token reports on it, and an unknown task gets the same answer", async () => {
  const task = await givenAcceptedTask()
  const other = reportPlaceOf(ctx, 'msg_other').report_token
  const service = await givenServiceToken(ctx)
  const texts = new Set<string>()
  const wrong = [
    other,
    service.token,
    'dtk_x',
    createStatusToken(ctx, task.withdrawalId),
    'Bearer x y',
    ...lookalikesOf(task.token),
  ]
  for (const token of wrong) {
    const { code, text, status } = await report({ ...task, token }, { status: 'completed' })
    expect([token, status, code]).toEqual([token, 404, 'TASK_001'])
    texts.add(text)
  }
  texts.add((await report({ id: 'msg_other', token: other }, { status: 'completed' })).text)
  expect(texts.size).toBe(1)
  for (const token of [null, 'Basic abc', 'Bearer ']) {
    expect((await report(task, { status: 'completed' }, { token })).code).toBe('AUTH_001')
  }
  expect(await stateOf(task)).toBe('accepted')
  for (const scope of [null, 'tasks:work', 'anything, else']) {
    expect((await report(task, { status: 'processing' }, { scope })).code).toBe('accepted')
  }
  // The token opens nothing else.
  expect((await call({ userId: task.userId, token: task.token }, 'getEmailStatus')).code).toBe('AUTH_001')
  expect((await call({ userId: '', token: task.token }, 'takeTasks', { query: '?app=x' })).code).toBe('AUTH_001')
})

const INVOICES = { category: 'invoices', reason: 'tax law' }

test.each([
  ['no status', {}],
  ['an unknown status', { status: 'done' }],
  ['progress above the total', { status: 'processing', progress: { done: 3, total: 2 } }],
  ['half a progress', { status: 'processing', progress: { done: 1 } }],
  ['fractions', { status: 'processing', progress: { done: 0.5, total: 2 } }],
  ['more records than can be', { status: 'completed', records: 2 ** 31 }],
  ['an unregistered category', { status: 'completed', retained: [{ category: 'call 0190', reason: 'tax law' }] }],
  ['an unregistered reason', { status: 'completed', retained: [{ category: 'invoices', reason: '<b>pay</b>' }] }],
  ['no reason', { status: 'completed', retained: [{ category: 'invoices' }] }],
  [
    'a time in a form of its own',
    { status: 'completed', retained: [{ ...INVOICES, until: '2036-12-31T00:00+01:00' }] },
  ],
  ['a list that is too long', { status: 'completed', retained: Array(51).fill(INVOICES) }],
  ['a code of two lines', { status: 'failed', code: 'a\nb' }],
  ['a code that is too long', { status: 'failed', code: 'x'.repeat(65) }],
])('a report with %s is refused and changes nothing', async (_what, body) => {
  const task = await givenAcceptedTask({ categories: ['invoices'], reasons: ['tax law'] })
  const before = await rowOf(task)
  ctx.clock.advance(second)
  expect((await report(task, body)).code).toBe('REQUEST_001')
  expect(await rowOf(task)).toEqual(before)
})

test.each(['2036-12-31', '2036-12-31T00:00:00.000Z'])(
  'an application may say until %s, a date or a time, and the person reads that',
  async (until) => {
    const task = await givenAcceptedTask({ categories: ['invoices'], reasons: ['tax law'] })
    const retained = [{ ...INVOICES, until }]
    expect((await report(task, { status: 'completed', retained })).data.status).toBe('completed')
    expect(await progressOf(task)).toMatchObject([{ status: 'completed', retained }])
  },
)

test('L25 a report of more than 4 KiB is refused before it is read, and each task has 60 reports a minute', async () => {
  const task = await givenAcceptedTask()
  const large = await report(task, { status: 'processing', more: 'x'.repeat(4 * 1024) })
  expect([large.status, large.code, large.details]).toEqual([
    413,
    'REQUEST_002',
    'The body may have 4096 bytes at most.',
  ])
  expect((await report(task, { status: 'processing', more: 'x'.repeat(4_000) })).code).toBe('accepted')
  const codes = await Promise.all(Array.from({ length: 61 }, () => report(task, { status: 'processing' })))
  expect(tally(codes.map(({ code }) => code))).toEqual({ accepted: 59, RATE_001: 2 })
  const refused = codes.find(({ code }) => code === 'RATE_001')
  ctx.clock.advance(Number(refused?.headers.get('Retry-After')) * second)
  expect((await report(task, { status: 'processing' })).code).toBe('accepted')
})

test('a polling application gets each due task once a minute, with all that it needs to know, and reports on it', async () => {
  const task = await givenTask(202, { endpoint: null })
  const service = await givenServiceToken(ctx, ['tasks:work'], day, { appId: task.appId })
  const take = async (query = '') => {
    const { data, code } = await call(service, 'takeTasks', { query: `?app=${task.appId}${query}` })
    expect(code).toBe('accepted')
    return data.tasks as Record<string, unknown>[]
  }
  expect(await take()).toEqual([])
  await pass(ctx, hour)
  expect(sent).toEqual([])
  const taken = await Promise.all([take(), take(), take('&limit=100')])
  expect(taken.flat()).toEqual([
    {
      id: task.id,
      withdrawal_id: task.withdrawalId,
      subject: task.userId,
      account: task.userId,
      phase: 'third_party_integrations',
      due_by: (await stepOfTask(task)).estimatedCompletion.toISOString(),
      ...reportPlaceOf(ctx, task.id),
      attempt: 1,
    },
  ])
  ctx.clock.advance(minute - 1)
  expect(await take()).toEqual([])
  ctx.clock.advance(1)
  expect(await take()).toMatchObject([{ attempt: 2 }])
  expect((await report(task, { status: 'processing' })).code).toBe('accepted')
  ctx.clock.advance(hour)
  expect(await take()).toEqual([])
  expect((await report(task, { status: 'completed' })).code).toBe('accepted')
  await ctx.settle()
  expect((await stepOfTask(task)).status).toBe('completed')
  for (const query of ['?app=%00', '', `?app=${task.appId}&limit=0`, `?app=${task.appId}&limit=101`, '?app=a&app=b']) {
    expect([query, (await call(service, 'takeTasks', { query })).code]).toEqual([query, 'REQUEST_001'])
  }
})

test('F40 only the token of a polling application takes its tasks, and no token of before does', async () => {
  const task = await givenTask(202, { endpoint: null })
  const other = await givenParticipant(ctx, 'other', { endpoint: null })
  await pass(ctx, hour)
  const tokenOf = (appId: string) => givenServiceToken(ctx, ['tasks:work'], day, { appId })
  const [own, others] = [await tokenOf(task.appId), await tokenOf(other)]
  const take = (service: typeof own, appId = task.appId) => call(service, 'takeTasks', { query: `?app=${appId}` })
  const refused = await take(others)
  expect([refused.status, refused.code]).toEqual([403, 'AUTH_002'])
  expect((await take(own, other)).code).toBe('AUTH_002')
  expect((await take(own, 'app_none')).code).toBe('AUTH_002')
  await ctx.db.serviceToken.update({ where: { id: others.id }, data: { appId: null } })
  const before = await take(others)
  expect([before.code, before.details.includes('--app app_…')]).toEqual(['AUTH_002', true])
  await setApp(ctx, { appId: task.appId, endpoint: 'https://shop.test/hook', disabled: true })
  expect((await take(own)).code).toBe('AUTH_002')
  await setApp(ctx, { appId: task.appId, endpoint: null })
  expect((await take(own)).data).toEqual({ tasks: [] })
  await setApp(ctx, { appId: task.appId, disabled: false })
  expect((await take(own)).data.tasks).toMatchObject([{ id: task.id, attempt: 1 }])
  await removeApp(ctx, { appId: task.appId, waive: 'gone' })
  expect((await take(own)).code).toBe('AUTH_002')
})

test('a token for deletion tasks is made for one application that is there', async () => {
  const appId = await givenParticipant(ctx, 'shop', { endpoint: null })
  const make = (scope: ServiceScope, of: { appId?: string }) => outcomeOf(givenServiceToken(ctx, [scope], day, of))
  expect(await make('tasks:work', {})).toBe('REQUEST_001')
  expect(await make('tasks:work', { appId: 'app_none' })).toBe('REQUEST_001')
  expect(await make('users:read', { appId })).toBe('REQUEST_001')
  expect(await make('tasks:work', { appId })).toBe('accepted')
})

test('the open tasks of a disabled application wait, are visible, and are asked for once it is enabled', async () => {
  const task = await givenTask(204, { disabled: true })
  const { dueAt } = await stepOfTask(task)
  for (const disabled of [false, true]) await setApp(ctx, { appId: task.appId, disabled })
  await ctx.settle()
  // A step that has not begun keeps its time.
  expect((await stepOfTask(task)).dueAt).toEqual(dueAt)
  await pass(ctx, 2 * day)
  expect(sent).toEqual([])
  expect((await listTasks(ctx, { appId: task.appId })).tasks).toMatchObject([
    { state: 'pending', is_app_disabled: true, due_at: null },
  ])
  expect(await progressOf(task)).toEqual([{ name: 'shop', status: 'pending' }])
  expect(await showWithdrawal(ctx, task.withdrawalId)).toMatchObject({ tasks: [{ due_at: null }] })
  expect((await stepOfTask(task)).status).toBe('processing')
  await setApp(ctx, { appId: task.appId, disabled: false })
  await ctx.settle()
  await runDueWork(ctx)
  expect(sent.map(({ id }) => id)).toEqual([task.id])
  expect((await stepOfTask(task)).status).toBe('completed')
})

test('a polling application that gets an endpoint is called at the next sweep, without waiting for the periodic check', async () => {
  const task = await givenTask(204, { endpoint: null })
  await pass(ctx, hour)
  expect((await stepOfTask(task)).dueAt?.getTime()).toBeGreaterThan(ctx.clock.now().getTime())
  await setApp(ctx, { appId: task.appId, name: 'Shop' })
  await ctx.settle()
  await runDueWork(ctx)
  expect(sent).toEqual([])
  await setApp(ctx, { appId: task.appId, endpoint: 'https://shop.test/hook' })
  await ctx.settle()
  expect((await stepOfTask(task)).dueAt).toEqual(ctx.clock.now())
  await runDueWork(ctx)
  expect((await stepOfTask(task)).status).toBe('completed')
})

test('a waived task is final and audited, ends its step, and is shown with its reason', async () => {
  const task = await givenTask(503)
  await pass(ctx, hour)
  const service = await givenServiceToken(ctx, ['apps:manage'])
  const ids = { taskId: task.id }
  const ask = (reason: string) => call(service, 'waiveTask', { ids, body: { reason } })
  expect((await ask('tired')).code).toBe('REQUEST_001')
  expect((await ask('gone')).data).toEqual({
    task_id: task.id,
    status: 'waived',
    waived: { reason: 'gone', at: ctx.clock.now().toISOString() },
  })
  await runDueWork(ctx)
  expect((await stepOfTask(task)).status).toBe('completed')
  expect(await progressOf(task)).toEqual([
    { name: 'shop', status: 'completed', waived: { reason: 'gone', at: ctx.clock.now().toISOString() } },
  ])
  expect((await ask('gone')).code).toBe('accepted')
  expect((await ask('other')).code).toBe('TASK_002')
  expect((await report(task, { status: 'completed' })).code).toBe('TASK_002')
  expect(await ctx.db.auditEvent.findMany({ where: { subjectId: task.id } })).toMatchObject([
    { action: 'task.waived', actor: 'service', actorId: service.id, userId: service.id },
  ])
  expect(await rowOf(task)).toMatchObject({ subject: null, sealedSubject: null })
  await expect(waiveTask(ctx, { taskId: 'msg_none', reason: 'gone' })).rejects.toMatchObject({ code: 'TASK_001' })
})

test('a step no longer tells the error of a task that nobody waits for, and still that of another one', async () => {
  await givenTask(503)
  for (const name of ['bank', 'press']) await givenParticipant(ctx, name)
  Object.assign(answers, { bank: () => 500, press: () => 202 })
  const user = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  const tasks = await ctx.db.deletionTask.findMany({ where: { withdrawalId: user.withdrawalId } })
  const waive = (name: string) =>
    waiveTask(ctx, { taskId: tasks.find(({ appName }) => appName === name)?.id ?? '', reason: 'gone' })
  const lastError = async () => (await stepOfTask(user)).lastError
  await waive('shop')
  await runDueWork(ctx)
  expect(await lastError()).toBe('HTTP 500')
  await waive('bank')
  await runDueWork(ctx)
  expect(await lastError()).toBeNull()
})

test('B113 a task is waived for a reason of the application, whose sentence the person reads, and never for a bare other', async () => {
  const task = await givenTask(503)
  await pass(ctx, hour)
  const service = await givenServiceToken(ctx, ['apps:manage'])
  const ask = (reason: string) => call(service, 'waiveTask', { ids: { taskId: task.id }, body: { reason } })
  for (const reason of ['other', 'merged', '', 'Gone', 'merged=x']) expect((await ask(reason)).code).toBe('REQUEST_001')
  expect((await ask('other')).details).toContain('reads: app set app_… --waive-reason CODE=SENTENCE')
  expect(await outcomeOf(removeApp(ctx, { appId: task.appId, waive: 'other' }))).toBe('REQUEST_001')
  expect(await rowOf(task)).toMatchObject({ waivedAt: null })

  const sentence = 'The shop was closed, and its data with it = gone.'
  await setApp(ctx, { appId: task.appId, waive_reasons: [`merged=${sentence}`, 'sold=The shop was sold.'] })
  const waived = { reason: 'merged', sentence, at: ctx.clock.now().toISOString() }
  expect((await ask('merged')).data).toMatchObject({ status: 'waived', waived })
  // Neither another wording nor the removal of the application changes what the person has read.
  await setApp(ctx, { appId: task.appId, waive_reasons: ['merged=Something else.'] })
  expect((await ask('merged')).data).toMatchObject({ waived })
  expect((await ask('sold')).code).toBe('TASK_002')
  await runDueWork(ctx)
  await removeApp(ctx, { appId: task.appId })
  expect(await progressOf(task)).toEqual([{ name: 'shop', status: 'completed', waived }])
  expect((await listTasks(ctx, { withdrawalId: task.withdrawalId })).tasks).toMatchObject([{ waived }])
  // An instance of the last release shows a reason that it does not know as this one.
  expect(await rowOf(task)).toMatchObject({ waivedReason: 'other' })
})

test('B113 a task that an earlier release waived for a bare other is read as before', async () => {
  const task = await givenTask(503)
  await pass(ctx, hour)
  await waiveTask(ctx, { taskId: task.id, reason: 'gone' })
  await ctx.db.deletionTask.update({ where: { id: task.id }, data: { waivedReason: 'other' } })
  expect(await progressOf(task)).toMatchObject([{ waived: { reason: 'other' } }])
  expect((await listTasks(ctx, { withdrawalId: task.withdrawalId })).tasks).toMatchObject([
    { waived: { reason: 'other' } },
  ])
})

test('L24 concurrent last reports, or a report and a waiver, end the step at once', async () => {
  const apps = ['one', 'two', 'three']
  for (const name of apps) await givenParticipant(ctx, name)
  for (const name of apps) answers[name] = () => 202
  const user = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  const tasks = await ctx.db.deletionTask.findMany({ where: { withdrawalId: user.withdrawalId } })
  const [first, ...rest] = tasks.map(({ id }) => ({ id, token: reportPlaceOf(ctx, id).report_token }))
  await Promise.all([
    waiveTask(ctx, { taskId: first?.id ?? '', reason: 'unreachable' }),
    ...rest.map((task) => report(task, { status: 'completed' })),
  ])
  await runDueWork(ctx)
  expect((await stepOfTask(user)).status).toBe('completed')
})

test('a task that becomes due while due calls are being started is called by the same run', async () => {
  const task = await givenTask(202, { phase: 'user_profile' })
  ctx.clock.advance(hour)
  let run: Promise<void> | undefined
  // What was read before the erasure arrives after it.
  const late = atStatement(ctx, 'due-calls', async (read) => {
    const rows = await read()
    await run
    return rows
  })
  run = runDueSteps(late)
  await run
  await ctx.settle()
  expect(await stateOf(task)).toBe('accepted')
})

test('the operator can make an accepted task due again, and a retry of the withdrawal does not touch it', async () => {
  const task = await givenAcceptedTask()
  expect(await retryWithdrawal(ctx, { withdrawalId: task.withdrawalId })).toMatchObject({ retried: false })
  await runDueWork(ctx)
  expect(sent).toHaveLength(1)
  await retryTask(ctx, { taskId: task.id })
  await runDueWork(ctx)
  expect(sent).toHaveLength(2)
  expect(await ctx.db.auditEvent.count({ where: { action: 'task.retried', userId: 'operator-command' } })).toBe(1)
})

test('a task that outlives the purge can still be reported on, and the report deletes its row', async () => {
  const task = await givenAcceptedTask({ phase: 'user_profile', acknowledge_within_seconds: 90 * 86_400 })
  await pass(ctx, 31 * day)
  expect(await withdrawalOf(ctx, task.withdrawalId)).toMatchObject({
    purgedAt: expect.any(Date),
    userId: null,
    completedAt: null,
  })
  expect((await report(task, { status: 'completed' })).code).toBe('accepted')
  await ctx.settle()
  expect(await ctx.db.deletionTask.count({ where: { id: task.id } })).toBe(0)
  expect((await report(task, { status: 'completed' })).code).toBe('TASK_001')
})

test("the purge deletes the account's id from an open task, and the task shows this until it is waived", async () => {
  await givenParticipant(ctx, 'shop')
  answers.shop = () => 503
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, 31 * day)
  const task = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })
  expect(task).toMatchObject({ subject: null, sealedSubject: null, completedAt: null })
  const calls = sent.length
  await pass(ctx, day)
  expect(sent).toHaveLength(calls)
  expect((await rowOf(task)).lastError).toBe('the purge has deleted whom it is about; stop waiting for it')
  await waiveTask(ctx, { taskId: task.id, reason: 'unreachable' })
  await runDueWork(ctx)
  expect((await withdrawalOf(ctx, withdrawalId)).completedAt).toEqual(ctx.clock.now())
})
