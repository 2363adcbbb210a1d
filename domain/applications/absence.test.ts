import { decodeJwt } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import type { ReceiptClaims } from '@/contract/receipt'
import { call, day, hour, minute } from '@/testing/api-calls'
import { givenServiceToken } from '@/testing/callers'
import { asService, givenUser, pass, passDays, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { outcomeOf } from '@/testing/outcomes'
import { atStatement } from '@/testing/statements'
import {
  clearWithdrawals,
  givenConnectedApps,
  givenLedger,
  givenParticipant,
  givenWithdrawal,
  readProgress,
  restored,
  stepOf,
  withdrawAs,
  withdrawalOf,
} from '@/testing/withdrawals'
import { markAccounts } from '../accounts/mark-accounts'
import { putUser } from '../accounts/put-user'
import { retryWithdrawal } from '../withdrawal/operate-withdrawal'
import { listReceipts } from '../withdrawal/receipts/receipts'
import { replayGap } from '../withdrawal/replay-erasure-ledger'
import { runDeletionStep } from '../withdrawal/run-deletion-step'
import { reportSilentApps, troubledWithdrawals, watchBacklog } from '../withdrawal/watch-withdrawals'
import { withdrawUser } from '../withdrawal/withdraw-account'
import { connectApp } from './connect'
import { listTasks, watchTasks } from './list-tasks'
import { type AppChanges, registerApp, removeApp, setApp } from './manage'
import { retryTask, waiveTask } from './operate-tasks'
import { reportPlaceOf } from './task-token'

const second = 1_000
const CHECK = 'account.absence_check'
const DELETION = 'account.withdrawn'

interface Message {
  app: string
  type: string
  id: string
  data: { subject: string; account: string; withdrawal_id?: string }
}
interface Said {
  status: number
  body?: string
  problem?: string
  retryAfterMs?: number
}

let ctx: TestContext
let sent: Message[]
/** What each application says to a check, and the status of its answer to a deletion; it is absent and 204 otherwise. */
let says: Record<string, (message: Message) => Said | Promise<Said>>
let statuses: Record<string, number>

const json = (value: unknown): Said => ({ status: 200, body: JSON.stringify(value) })
const absent = ({ data }: Message): Said => json({ present: false, account: data.account })
const present = ({ data }: Message): Said => json({ present: true, account: data.account })

function begin(context: TestContext) {
  ctx = context
  sent = []
  says = {}
  statuses = {}
  ctx.apps.answer = async ({ endpoint, body, headers }) => {
    const app = new URL(endpoint).host.replace('.test', '')
    const message = { app, id: headers['webhook-id'] ?? '', ...JSON.parse(body) } as Message
    sent.push(message)
    return message.type === CHECK ? (says[app] ?? absent)(message) : { status: statuses[app] ?? 204 }
  }
}

beforeEach(async () => {
  begin(await testContext())
  installContext(ctx)
  await clearWithdrawals(ctx)
})

const checks = () => sent.filter(({ type }) => type === CHECK)
const deletionRequests = () => sent.filter(({ type }) => type === DELETION)

/** A withdrawal whose application, which confirms, has said that it is done. */
async function givenCompletedTask(settings: AppChanges = {}) {
  const appId = await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', confirms: true, ...settings })
  const withdrawn = await givenWithdrawal(ctx)
  const task = await ctx.db.deletionTask.findFirstOrThrow({ where: { appId, withdrawalId: withdrawn.withdrawalId } })
  await pass(ctx, hour)
  return { ...withdrawn, appId, id: task.id }
}
type Task = Pick<Awaited<ReturnType<typeof givenCompletedTask>>, 'id' | 'userId' | 'withdrawalId'>

const rowOf = ({ id }: Pick<Task, 'id'>) => ctx.db.deletionTask.findUniqueOrThrow({ where: { id } })
const shownOf = async ({ id, withdrawalId }: Task) =>
  (await listTasks(ctx, { withdrawalId })).tasks.find(({ task_id }) => task_id === id)
const stateOf = async (task: Task) => (await shownOf(task))?.state
const stepOfTask = ({ withdrawalId }: Task) => stepOf(ctx, withdrawalId, 'third_party_integrations')
const progressOf = async ({ userId, withdrawalId }: Task) =>
  (await readProgress(ctx, userId, withdrawalId)).applications[0]

test('B100 a day after its task an application that confirms is asked once, and only then its step ends', async () => {
  const task = await givenCompletedTask()
  expect(sent.map(({ type }) => type)).toEqual([DELETION])
  expect(await stateOf(task)).toBe('unconfirmed')
  expect(await progressOf(task)).toEqual({
    name: 'shop',
    status: 'processing',
    next_attempt_at: new Date(ctx.clock.now().getTime() + day).toISOString(),
    absence: 'unconfirmed',
  })
  await pass(ctx, day - 1)
  expect(checks()).toEqual([])
  expect((await stepOfTask(task)).status).toBe('processing')
  await pass(ctx, 1)
  expect(checks()).toMatchObject([{ data: { subject: task.userId, account: task.userId } }])
  expect(Object.keys(checks()[0]?.data ?? {})).toEqual(['subject', 'account'])
  expect(checks()[0]?.id).toMatch(/^chk_/)
  expect((await stepOfTask(task)).status).toBe('completed')
  expect(await rowOf(task)).toMatchObject({
    status: 'completed',
    absentAt: ctx.clock.now(),
    subject: null,
    sealedSubject: null,
    dueAt: null,
  })
  expect(await progressOf(task)).toMatchObject({ status: 'completed', absence: 'absent' })
  await passDays(ctx, 2)
  expect(sent).toHaveLength(2)
})

test('B100 a check is asked at once where a day later would be after the scheduled completion', async () => {
  const task = await givenCompletedTask({ phase: 'data_archives' })
  statuses.shop = 503
  await passDays(ctx, 6)
  expect(checks()).toEqual([])
  delete statuses.shop
  await pass(ctx, day)
  await runDueWork(ctx)
  expect(sent.slice(-2).map(({ type }) => type)).toEqual([DELETION, CHECK])
  expect(await stateOf(task)).toBe('completed')
})

test('B100 the time scale multiplies the day', async () => {
  ctx.timeScale = 0.001
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', confirms: true })
  await givenWithdrawal(ctx)
  await pass(ctx, hour / 1000)
  expect(deletionRequests()).toHaveLength(1)
  await pass(ctx, day / 1000 - 1)
  expect(checks()).toEqual([])
  await pass(ctx, 1)
  expect(checks()).toHaveLength(1)
})

test('a step that waits for its check is not overdue, and its application not silent', async () => {
  const task = await givenCompletedTask()
  const { estimatedCompletion } = await stepOfTask(task)
  expect(estimatedCompletion).toEqual(new Date(ctx.clock.now().getTime() + day + hour))
  await pass(ctx, day - second)
  expect((await watchBacklog(ctx)).steps.overdue).toBe(0)
  expect((await troubledWithdrawals(ctx)).withdrawals).toEqual([])
  expect((await watchTasks(ctx)).tasks).toEqual([])
  await reportSilentApps(ctx)
  const silent = () => ctx.db.connectedApp.count({ where: { NOT: { silentAt: null } } })
  expect(await silent()).toBe(0)
  says.shop = () => ({ status: 500 })
  await pass(ctx, second)
  expect((await watchTasks(ctx)).tasks).toMatchObject([{ state: 'unconfirmed', last_error: 'HTTP 500' }])
  await pass(ctx, day - second)
  expect(await silent()).toBe(0)
  await pass(ctx, second)
  expect(await silent()).toBe(1)
})

test('an application that does not confirm, and a withdrawal from before the setting, are not asked', async () => {
  const task = await givenCompletedTask({ confirms: false })
  await setApp(ctx, { appId: task.appId, confirms: true })
  await passDays(ctx, 2)
  expect(sent.map(({ type }) => type)).toEqual([DELETION])
  expect(await progressOf(task)).not.toHaveProperty('absence')
})

test('a withdrawal keeps the promise of its start when the setting is taken away', async () => {
  const task = await givenCompletedTask()
  await setApp(ctx, { appId: task.appId, confirms: false })
  await pass(ctx, day)
  expect(checks()).toHaveLength(1)
  expect(await stateOf(task)).toBe('completed')
})

test('an application without an endpoint cannot confirm', async () => {
  expect(await outcomeOf(registerApp(ctx, { name: 'shop', endpoint: null, confirms: true }))).toBe('REQUEST_001')
  const appId = await givenParticipant(ctx, 'shop', { confirms: true })
  await expect(setApp(ctx, { appId, endpoint: null })).rejects.toThrow()
  const service = await givenServiceToken(ctx, ['apps:manage'])
  const put = await call(service, 'setApp', { ids: { appId }, body: { endpoint: null } })
  expect([put.code, put.details]).toEqual([
    'REQUEST_001',
    'An application without an endpoint cannot be asked whether a person is absent.',
  ])
})

const UNREAD = 'HTTP 200 without readable JSON'
const LACKS = 'HTTP 200, but the answer lacks "present" or "account"'
const OTHER = 'HTTP 200 about another account'
/** What is no answer, and what an operator reads of it. */
const NO_ANSWERS: [what: string, problem: string, answer: (message: Message) => Said][] = [
  ['404', 'HTTP 404', () => ({ status: 404 })],
  ['404 with the body of an answer', 'HTTP 404', (message) => ({ ...absent(message), status: 404 })],
  ['410', 'HTTP 410', () => ({ status: 410 })],
  ['500', 'HTTP 500', () => ({ status: 500 })],
  ['502 of a proxy', 'HTTP 502', () => ({ status: 502, body: '<html>' })],
  ['204', 'HTTP 204', () => ({ status: 204, body: '' })],
  ['202 with the body of an answer', 'HTTP 202', (message) => ({ ...absent(message), status: 202 })],
  ['a redirect', 'HTTP 302', () => ({ status: 302 })],
  ['no answer in time', 'timeout', () => ({ status: 0, problem: 'timeout' })],
  ['more than 64 KiB, or a body that stalls', UNREAD, () => ({ status: 200 })],
  ['nothing in its body', UNREAD, () => ({ status: 200, body: '' })],
  ['invalid JSON', UNREAD, () => ({ status: 200, body: '{"present": false' })],
  ['no object', LACKS, () => json(null)],
  ['a list', LACKS, ({ data }) => json([{ present: false, account: data.account }])],
  ['another account', OTHER, () => json({ present: false, account: 'usr_other' })],
  ['the subject in place of the account', OTHER, () => json({ present: false, account: 'customer-1' })],
  ['no account', LACKS, () => json({ present: false })],
  ['that another account is present', OTHER, () => json({ present: true, account: 'usr_other' })],
  ['no answer to the question', LACKS, ({ data }) => json({ account: data.account })],
  ['a text for an answer', LACKS, ({ data }) => json({ present: 'false', account: data.account })],
  ['zero for an answer', LACKS, ({ data }) => json({ present: 0, account: data.account })],
]

test.each(NO_ANSWERS)(
  'B102 %s says nothing: the check is asked again with a back-off, and an operator reads what was said',
  async (_what, problem, answer) => {
    const task = await givenCompletedTask()
    says.shop = answer
    await pass(ctx, day)
    const before = await rowOf(task)
    expect(before).toMatchObject({ status: 'processing', absentAt: null, timesPresent: 0, leaseUntil: null })
    expect(before.completedAt).not.toBeNull()
    expect(await shownOf(task)).toMatchObject({ last_error: problem, failing_since: ctx.clock.now().toISOString() })
    expect((await stepOfTask(task)).status).toBe('processing')
    await pass(ctx, 4 * second)
    expect(checks()).toHaveLength(1)
    await pass(ctx, 3 * second)
    expect(checks()).toHaveLength(2)
    expect(new Set(checks().map(({ id }) => id)).size).toBe(2)
    expect(deletionRequests()).toHaveLength(1)
    delete says.shop
    await pass(ctx, minute)
    expect(await stateOf(task)).toBe('completed')
  },
)

test('B102 a Retry-After of the answer is honoured', async () => {
  const task = await givenCompletedTask()
  says.shop = () => ({ status: 503, retryAfterMs: hour })
  await pass(ctx, day)
  await pass(ctx, hour - 1)
  expect(checks()).toHaveLength(1)
  await pass(ctx, 1)
  expect(checks()).toHaveLength(2)
  expect(await stateOf(task)).toBe('unconfirmed')
})

test('B101 an application that still has the person is told again under the same id, three times at most; then the operator decides', async () => {
  const task = await givenCompletedTask()
  says.shop = present
  for (let time = 1; time <= 3; time++) {
    await pass(ctx, day)
    await runDueWork(ctx)
    expect(checks()).toHaveLength(time)
    expect(deletionRequests().map(({ id }) => id)).toEqual(Array(time + 1).fill(task.id))
    expect(await shownOf(task)).toMatchObject({ state: 'unconfirmed', times_present: time })
    expect(await progressOf(task)).toMatchObject({ status: 'processing', absence: 'present' })
  }
  await pass(ctx, day)
  expect(await shownOf(task)).toMatchObject({ state: 'present', times_present: 4, due_at: null })
  expect(await progressOf(task)).toEqual({ name: 'shop', status: 'processing', absence: 'present' })
  expect((await watchTasks(ctx)).tasks).toMatchObject([{ task_id: task.id, state: 'present' }])
  expect((await watchTasks(ctx)).counts).toContainEqual({ state: 'present', count: 1 })
  expect((await watchBacklog(ctx)).present).toBe(1)
  expect(ctx.warnings).toContainEqual(
    expect.objectContaining({ event: 'connected_app_kept_person', taskId: task.id, withdrawalId: task.withdrawalId }),
  )
  const calls = sent.length
  await passDays(ctx, 9)
  expect(sent).toHaveLength(calls)
  // No sweep runs its step for nothing.
  expect((await stepOfTask(task)).dueAt?.getTime()).toBeGreaterThan(ctx.clock.now().getTime())
  expect((await withdrawalOf(ctx, task.withdrawalId)).completedAt).toBeNull()
  expect(await ctx.db.connectedApp.count({ where: { NOT: { silentAt: null } } })).toBe(0)
})

/** An application that answered until the end that it still has the person. */
async function givenPresent() {
  const task = await givenCompletedTask()
  says.shop = present
  for (let time = 0; time < 4; time++) {
    await pass(ctx, day)
    await runDueWork(ctx)
  }
  expect(await stateOf(task)).toBe('present')
  return task
}

test('B101 an answer that the person is there needs no account', async () => {
  const task = await givenCompletedTask()
  says.shop = () => json({ present: true })
  await pass(ctx, day)
  await runDueWork(ctx)
  expect(deletionRequests().map(({ id }) => id)).toEqual([task.id, task.id])
})

test('B101 a retry tells it once more; it is present again at the next such answer, or absent', async () => {
  const task = await givenPresent()
  await retryTask(ctx, { taskId: task.id })
  await runDueWork(ctx)
  expect(deletionRequests()).toHaveLength(5)
  expect(await stateOf(task)).toBe('unconfirmed')
  await pass(ctx, day)
  await runDueWork(ctx)
  expect(await stateOf(task)).toBe('present')
  expect(deletionRequests()).toHaveLength(5)
  await retryWithdrawal(ctx, { withdrawalId: task.withdrawalId })
  await runDueWork(ctx)
  expect(deletionRequests()).toHaveLength(6)
  delete says.shop
  await passDays(ctx, 2)
  expect(await stateOf(task)).toBe('completed')
})

test('a retry asks a check that got no answer at once, and one whose time has not come keeps its time', async () => {
  const task = await givenCompletedTask()
  const { dueAt } = await rowOf(task)
  await retryTask(ctx, { taskId: task.id })
  await retryWithdrawal(ctx, { withdrawalId: task.withdrawalId })
  await runDueWork(ctx)
  expect(await rowOf(task)).toMatchObject({ dueAt })
  expect(checks()).toEqual([])
  says.shop = () => ({ status: 500, retryAfterMs: day })
  await pass(ctx, day)
  delete says.shop
  await retryTask(ctx, { taskId: task.id })
  await runDueWork(ctx)
  expect(await stateOf(task)).toBe('completed')
  expect(deletionRequests()).toHaveLength(1)
})

test('B104 a waiver ends an open check and one that is present, and the answer that is under way no longer counts', async () => {
  const task = await givenCompletedTask()
  let waived: Promise<unknown> | undefined
  says.shop = async (message) => {
    waived ??= waiveTask(ctx, { taskId: task.id, reason: 'refused' })
    await waived
    return absent(message)
  }
  await pass(ctx, day)
  expect(await rowOf(task)).toMatchObject({
    status: 'completed',
    absentAt: null,
    waivedReason: 'refused',
    completedAt: null,
  })
  await runDueWork(ctx)
  expect((await stepOfTask(task)).status).toBe('completed')
  const shown = await progressOf(task)
  expect(shown).toMatchObject({ waived: { reason: 'refused' } })
  expect(shown).not.toHaveProperty('absence')
  begin(ctx)
  await removeApp(ctx, { appId: task.appId })
  const other = await givenPresent()
  await waiveTask(ctx, { taskId: other.id, reason: 'unreachable' })
  await runDueWork(ctx)
  expect((await stepOfTask(other)).status).toBe('completed')
})

test('B104 an application is not removed while a check is open, unless it is waived; a disabled one is not asked, and its check waits', async () => {
  const task = await givenCompletedTask()
  expect(await outcomeOf(removeApp(ctx, { appId: task.appId }))).toBe('TASK_002')
  await setApp(ctx, { appId: task.appId, disabled: true })
  await passDays(ctx, 2)
  expect(checks()).toEqual([])
  expect(await shownOf(task)).toMatchObject({ state: 'unconfirmed', is_app_disabled: true, due_at: null })
  expect(await progressOf(task)).toEqual({ name: 'shop', status: 'processing', absence: 'unconfirmed' })
  expect((await stepOfTask(task)).status).toBe('processing')
  await setApp(ctx, { appId: task.appId, disabled: false })
  await ctx.settle()
  await runDueWork(ctx)
  expect(await stateOf(task)).toBe('completed')
  const second = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  expect(await removeApp(ctx, { appId: task.appId, waive: 'gone' })).toMatchObject({ waived_tasks: 1 })
  expect((await readProgress(ctx, second.userId, second.withdrawalId)).applications).toMatchObject([
    { waived: { reason: 'gone' } },
  ])
})

test('B104 a check waits where the application polls meanwhile, and nobody takes it for a deletion task', async () => {
  const task = await givenCompletedTask()
  await setApp(ctx, { appId: task.appId, endpoint: null, confirms: false })
  const service = await givenServiceToken(ctx, ['tasks:work'], 9 * day, { appId: task.appId })
  await passDays(ctx, 2)
  expect((await call(service, 'takeTasks', { query: `?app=${task.appId}` })).data).toEqual({ tasks: [] })
  expect(await shownOf(task)).toMatchObject({ state: 'unconfirmed', due_at: null })
  await setApp(ctx, { appId: task.appId, endpoint: 'https://shop.test/hook' })
  await ctx.settle()
  await runDueWork(ctx)
  expect(await stateOf(task)).toBe('completed')
})

test('an application that reports later is asked a day after its report; the report is final meanwhile, and open again after a presence', async () => {
  const task = await givenCompletedTask({ acknowledges: 'later', categories: ['invoices'], reasons: ['tax law'] })
  statuses.shop = 202
  // The first answer was 204, which ends the task too.
  says.shop = present
  await pass(ctx, day)
  await runDueWork(ctx)
  expect(await stateOf(task)).toBe('accepted')
  const { report_token: token } = reportPlaceOf(ctx, task.id)
  const report = (body: object) => call({ userId: '', token }, 'reportOnTask', { ids: { taskId: task.id }, body })
  const retained = [{ category: 'invoices', reason: 'tax law' }]
  expect((await report({ status: 'completed', records: 3, retained })).code).toBe('accepted')
  await ctx.settle()
  expect(await stateOf(task)).toBe('unconfirmed')
  expect((await report({ status: 'completed' })).code).toBe('accepted')
  expect((await report({ status: 'failed' })).code).toBe('TASK_002')
  delete says.shop
  await passDays(ctx, 7)
  expect(await rowOf(task)).toMatchObject({ status: 'completed', records: 3, retained })
  const [, completion] = await receiptsOf(task)
  expect(completion?.applications).toMatchObject([{ answer: 'retained_part', reported_records: 3 }])
})

async function receiptsOf({ withdrawalId }: Task) {
  const { receipts } = await listReceipts(ctx, { withdrawalId })
  return receipts.map(({ receipt }) => decodeJwt<ReceiptClaims>(receipt))
}

test('B105 the completion is signed when the last step ends, and says absent, and when, where that was confirmed', async () => {
  const task = await givenCompletedTask({ phase: 'data_archives' })
  await givenParticipant(ctx, 'other', { acknowledges: 'at_once' })
  await passDays(ctx, 1)
  says.shop = () => ({ status: 404 })
  await passDays(ctx, 7)
  expect(await receiptsOf(task)).toMatchObject([{ kind: 'acceptance' }])
  delete says.shop
  await pass(ctx, day)
  const [, completion] = await receiptsOf(task)
  expect(completion).toMatchObject({ kind: 'completion', applications: [{ name: 'shop', answer: 'absent' }] })
  expect(completion?.applications?.[0]?.at).toBe((await rowOf(task)).absentAt?.toISOString())
})

const putAs = (externalId: string, body: object = {}) =>
  putUser(asService(ctx), { externalId, email: `${externalId}@example.test`, name: 'Ada', ...body })

test('B103 an open check holds back an account with the same external id, until it is absent or waived', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', confirms: true })
  const externalId = ctx.secrets.randomId('customer-')
  await putAs(externalId)
  const { withdrawal_id: withdrawalId } = await withdrawUser(asService(ctx), {
    externalId,
    confirmation: 'DELETE_MY_ACCOUNT',
    requested_by: 'support',
  })
  await ctx.settle()
  await pass(ctx, hour)
  const recreate = () => outcomeOf(putAs(externalId, { recreate: true }))
  expect(await recreate()).toBe('USER_002')
  says.shop = present
  await pass(ctx, day)
  expect(await recreate()).toBe('USER_002')
  await passDays(ctx, 4)
  expect(await recreate()).toBe('USER_002')
  const [task] = await ctx.db.deletionTask.findMany({ where: { withdrawalId } })
  expect(task?.sealedSubject).not.toBeNull()
  await waiveTask(ctx, { taskId: task?.id ?? '', reason: 'refused' })
  expect(await recreate()).toBe('accepted')
})

test('B103 no check is sent while another account has the subject at the application', async () => {
  const user = await givenUser(ctx)
  await givenConnectedApps(ctx, user, ['shop'])
  const app = await ctx.db.connectedApp.findFirstOrThrow()
  await setApp(ctx, { appId: app.id, confirms: true })
  const { id: withdrawalId } = await withdrawAs(ctx, user)
  await pass(ctx, hour)
  const [task] = await ctx.db.deletionTask.findMany({ where: { withdrawalId } })
  const other = await givenUser(ctx)
  await connectApp(ctx, { userId: other.userId, appId: app.id, subject: `${user.email} at shop` })
  await passDays(ctx, 2)
  expect(checks()).toEqual([])
  expect(await rowOf({ id: task?.id ?? '' })).toMatchObject({
    lastError: 'another account has its id at the application',
    absentAt: null,
  })
  await ctx.db.appConnection.deleteMany({ where: { userId: other.userId } })
  await passDays(ctx, 1)
  expect(checks()).toMatchObject([{ data: { subject: `${user.email} at shop`, account: user.userId } }])
  expect(await stateOf({ ...user, withdrawalId, id: task?.id ?? '' })).toBe('completed')
})

test('B106 after the purge a check that names the person by our id waits to be waived; one with the own id of the application is asked', async () => {
  const task = await givenCompletedTask()
  says.shop = () => ({ status: 500 })
  await pass(ctx, 31 * day)
  const calls = sent.length
  await passDays(ctx, 2)
  expect(sent).toHaveLength(calls)
  expect(await rowOf(task)).toMatchObject({ lastError: 'the purge has deleted whom it is about; stop waiting for it' })
  const receipts = await receiptsOf(task)
  expect(receipts.at(-1)).toMatchObject({ kind: 'purge', applications: [{ answer: 'open' }] })
  await waiveTask(ctx, { taskId: task.id, reason: 'unreachable' })
  await runDueWork(ctx)
  expect((await stepOfTask(task)).status).toBe('completed')
  await removeApp(ctx, { appId: task.appId })

  begin(ctx)
  const user = await givenUser(ctx)
  await givenConnectedApps(ctx, user, ['own'])
  await setApp(ctx, { appId: (await ctx.db.connectedApp.findFirstOrThrow()).id, confirms: true })
  const { id: withdrawalId } = await withdrawAs(ctx, user)
  says.own = () => ({ status: 500 })
  await pass(ctx, hour)
  await pass(ctx, 31 * day)
  delete says.own
  await passDays(ctx, 2)
  expect(checks().at(-1)).toMatchObject({ data: { subject: `${user.email} at own`, account: user.userId } })
  expect(await ctx.db.deletionTask.count({ where: { withdrawalId } })).toBe(0)
  expect(await withdrawalOf(ctx, withdrawalId)).toMatchObject({ completedAt: expect.any(Date), userId: null })
})

test('B107 of a hundred applications that keep the person though they said that they are done, all are found before completed', async () => {
  const liars = Array.from({ length: 100 }, (_one, index) => `liar-${index}`)
  const ANSWERS = [200, 204, 404, 410]
  for (const [index, name] of liars.entries()) {
    await givenParticipant(ctx, name, { acknowledges: index % 2 ? 'later' : 'at_once', confirms: true })
    statuses[name] = ANSWERS[index % ANSWERS.length] ?? 200
    says[name] = present
  }
  const { withdrawalId } = await givenWithdrawal(ctx)
  await passDays(ctx, 20)
  const { tasks } = await listTasks(ctx, { withdrawalId })
  expect(tasks.filter(({ state }) => state === 'present')).toHaveLength(100)
  expect((await withdrawalOf(ctx, withdrawalId)).completedAt).toBeNull()
})

/** A run whose process dies at this statement, or right after it. */
const dieAt = ({ withdrawalId }: Task, name: string, isAfter: boolean) =>
  new Promise<void>((resolve) => {
    const dying = atStatement(ctx, name, async (run) => {
      if (isAfter) await run()
      resolve()
      return new Promise<never>(() => {})
    })
    void runDeletionStep(dying, { withdrawalId, step: 'third_party_integrations' })
  })

test('F70 a check is lost at no moment: whatever dies, its lease ends and it is asked again', async () => {
  const task = await givenCompletedTask()
  ctx.clock.advance(day)
  const moments = ['claim-absence-checks', 'confirm-absence', 'note-present'] as const
  for (const at of moments) {
    for (const isAfter of at === 'claim-absence-checks' ? [false, true] : [false]) {
      says.shop = at === 'note-present' ? present : absent
      await dieAt(task, at, isAfter)
      expect(await stateOf(task)).toBe('unconfirmed')
      ctx.clock.advance(minute)
    }
  }
  expect(checks()).toHaveLength(2)
  delete says.shop
  await runDueWork(ctx)
  expect(await stateOf(task)).toBe('completed')
  expect((await stepOfTask(task)).status).toBe('completed')
})

test('F70 what a check was answered holds when its process dies right after it', async () => {
  const task = await givenCompletedTask()
  ctx.clock.advance(day)
  says.shop = present
  for (const at of ['note-present', 'confirm-absence'] as const) {
    await dieAt(task, at, true)
    delete says.shop
    if (at === 'note-present') {
      await pass(ctx, minute)
      ctx.clock.advance(day)
    }
  }
  expect(deletionRequests()).toHaveLength(2)
  await pass(ctx, minute)
  expect((await stepOfTask(task)).status).toBe('completed')
})

test('F70 two instances ask one check once, and the answer to an earlier try no longer counts', async () => {
  const task = await givenCompletedTask()
  const answers: ((said: Said) => void)[] = []
  says.shop = () => new Promise((resolve) => answers.push(resolve))
  ctx.clock.advance(day)
  const due = { withdrawalId: task.withdrawalId, step: 'third_party_integrations' } as const
  const runs = [runDeletionStep(ctx, due), runDeletionStep(ctx, due)]
  await expect.poll(() => checks().length).toBe(1)
  // The first call hangs beyond its lease, and another instance asks again.
  ctx.clock.advance(minute)
  runs.push(runDeletionStep(ctx, due))
  await expect.poll(() => answers.length).toBe(2)
  const [question] = checks() as [Message]
  answers[0]?.(absent(question))
  await Promise.all(runs.slice(0, 2))
  expect(await rowOf(task)).toMatchObject({ absentAt: null, leaseUntil: expect.any(Date) })
  answers[1]?.(present(question))
  await Promise.all(runs)
  expect(await rowOf(task)).toMatchObject({ absentAt: null, timesPresent: 1 })
})

test('F71 a database that was put back withdraws the person again, tells the application again and asks it again', async () => {
  begin(await givenLedger())
  const appId = await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', confirms: true })
  const user = await givenUser(ctx)
  await markAccounts(ctx)
  const { id: lost } = await restored(ctx, async () => {
    const started = await withdrawAs(ctx, user)
    for (const ms of [hour, day]) await pass(ctx, ms)
    return started
  })
  expect(checks()).toHaveLength(1)
  expect(await replayGap(ctx)).toMatchObject({ replayed: 1 })
  await ctx.settle()
  const [task] = await ctx.db.deletionTask.findMany({ where: { appId } })
  expect(task).toMatchObject({ withdrawalId: lost, confirms: true })
  await passDays(ctx, 3)
  expect(deletionRequests().length).toBeGreaterThan(1)
  expect(checks().length).toBeGreaterThan(1)
  expect(await rowOf({ id: task?.id ?? '' })).toMatchObject({ status: 'completed', absentAt: expect.any(Date) })
  await ctx.db.$executeRaw`DELETE FROM withdrawals`
  await removeApp(ctx, { appId })
})

test('F72 an instance of an earlier release cannot end a task that awaits its confirmation, but may waive it', async () => {
  const task = await givenCompletedTask()
  const end = () =>
    ctx.db.$executeRaw`UPDATE deletion_tasks SET status = 'completed', due_at = NULL WHERE id = ${task.id}`
  await expect(end()).rejects.toThrow('deletion_tasks_confirmed')
  await ctx.db
    .$executeRaw`UPDATE deletion_tasks SET status = 'completed', waived_at = now(), due_at = NULL WHERE id = ${task.id}`
})
