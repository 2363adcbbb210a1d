import { beforeEach, expect, test } from 'vitest'
import { CONFIRMATION } from '@/contract/errors'
import { shownWithdrawal, type WithdrawalState } from '@/contract/operator'
import { STEPS } from '@/contract/withdrawal'
import { givenUser, pass, type TestContext, testContext } from '@/testing/domain'
import { clearWithdrawals, givenParticipant, givenWithdrawal } from '@/testing/withdrawals'
import { endedTasksOf } from '../applications/list-tasks'
import { waiveTask } from '../applications/operate-tasks'
import { listWithdrawals } from './list-withdrawals'
import { openSteps } from './open-steps'
import { retryWithdrawal } from './operate-withdrawal'
import { showWithdrawal } from './show-withdrawal'
import { troubledWithdrawals } from './watch-withdrawals'
import { withdrawByOperator } from './withdraw-account'

const hour = 3_600_000
const day = 24 * hour
let ctx: TestContext
beforeEach(async () => {
  ctx = await testContext()
  await clearWithdrawals(ctx)
})

test('steps of one time stand in the order of STEPS, for operators and for the engine', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const at = ctx.clock.now()
  // The rows are written anew in another order, so that the order is not that of the table.
  for (const step of STEPS.toSorted()) {
    const where = { withdrawalId_step: { withdrawalId, step } }
    const row = await ctx.db.deletionStep.delete({ where })
    const open = { status: 'processing', dueAt: at, completedAt: null, estimatedCompletion: at, lastError: 'x' }
    await ctx.db.deletionStep.create({ data: { ...row, ...open } })
  }
  const namesOf = (steps: { step: string }[] = []) => steps.map(({ step }) => step)
  const seen = {
    detail: namesOf((await showWithdrawal(ctx, withdrawalId)).deletion_steps),
    list: namesOf((await listWithdrawals(ctx, { state: 'processing' })).withdrawals[0]?.deletion_steps),
    troubled: namesOf((await troubledWithdrawals(ctx)).withdrawals[0]?.deletion_steps),
    engine: namesOf(await openSteps(ctx, withdrawalId)),
  }
  const order = [...STEPS]
  expect(seen).toEqual({ detail: order, list: order, troubled: order, engine: order })
})

test('the page of an application has what it ended last, until the purge, after which nobody knows who was waived', async () => {
  const answers: Record<string, number> = { shop: 204, bank: 503 }
  ctx.apps.answer = async ({ endpoint }) => ({ status: answers[new URL(endpoint).host.replace('.test', '')] ?? 204 })
  const [shop, bank] = [await givenParticipant(ctx, 'shop'), await givenParticipant(ctx, 'bank')]
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  const endedOf = (appId: string) => endedTasksOf(ctx, appId, 20)
  expect(await endedOf(shop)).toMatchObject([{ withdrawal_id: withdrawalId, state: 'completed', attempts: 1 }])
  expect(await endedOf(bank)).toEqual([])
  const { id: taskId } = await ctx.db.deletionTask.findFirstOrThrow({ where: { appId: bank } })
  await waiveTask(ctx, { taskId, reason: 'gone' })
  expect(await endedOf(bank)).toMatchObject([{ state: 'waived', last_error: 'HTTP 503' }])
  const waivedOf = async (state: WithdrawalState) =>
    (await listWithdrawals(ctx, { state })).withdrawals.map((one) => one.waived_tasks)
  await pass(ctx, 7 * day)
  expect(await waivedOf('completed')).toEqual([1])
  await pass(ctx, 30 * day)
  expect(await waivedOf('purged')).toEqual([null])
  expect([await endedOf(shop), await endedOf(bank)]).toEqual([[], []])
  const shown = { status: 'purged', waived_tasks: null, tasks: [], open_tasks: 0, waits_for: [] }
  expect(await showWithdrawal(ctx, withdrawalId)).toMatchObject(shown)
})

test('an operator sees what a withdrawal has done and what it waits for, and of the person the id of the account alone', async () => {
  await givenParticipant(ctx, 'shop', { acknowledges: 'at_once', events: ['account.withdrawal_started'] })
  ctx.apps.answer = async () => ({ status: 503 })
  const { withdrawalId, userId, email } = await givenWithdrawal(ctx)
  await pass(ctx, hour)
  await retryWithdrawal(ctx, { withdrawalId })
  ctx.clock.advance(1)
  const { id: taskId } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })
  await waiveTask(ctx, { taskId, reason: 'gone' })
  const seen = await showWithdrawal(ctx, withdrawalId)
  expect(() => shownWithdrawal.strict().parse(seen)).not.toThrow()
  expect(seen).toMatchObject({
    status: 'processing',
    user_id: userId,
    is_past_due: false,
    open_tasks: 0,
    waived_tasks: 1,
    due_by: '2026-12-20T09:00:00.000Z',
    tasks: [{ name: 'shop', state: 'waived', attempts: 1, waived: { reason: 'gone' } }],
    deliveries: [{ type: 'account.withdrawal_started', app_name: 'shop', status: 'pending', last_error: 'HTTP 503' }],
    notices: [{ kind: 'account_withdrawal_started', attempts: 1 }],
    receipts: [{ kind: 'acceptance' }],
    is_cut: false,
  })
  expect(Object.fromEntries(seen.deletion_steps.map(({ step, status }) => [step, status]))).toMatchObject({
    session_revocation: 'completed',
    user_profile: 'completed',
    third_party_integrations: 'processing',
    data_archives: 'pending',
  })
  expect(seen.deletion_steps.find(({ step }) => step === 'user_profile')?.erased).toContainEqual({
    category: 'account',
    records: 1,
  })
  // The newest first.
  expect(seen.audit.map(({ action }) => action)).toEqual(['task.waived', 'withdrawal.retried', 'account.withdrawn'])
  for (const personal of [userId, email, '"Ada'])
    expect(JSON.stringify({ ...seen, user_id: null })).not.toContain(personal)
  await expect(showWithdrawal(ctx, 'wd_none')).rejects.toMatchObject({ code: 'WITHDRAWAL_004' })
})

test('a mail that the operator command leaves to the sweep counts its tries alone', async () => {
  const { userId } = await givenUser(ctx)
  const { withdrawal_id: id } = await withdrawByOperator(ctx, { userId, confirmation: CONFIRMATION })
  expect((await showWithdrawal(ctx, id)).notices).toMatchObject([{ attempts: 0, sent_at: null }])
  await pass(ctx, 0)
  expect((await showWithdrawal(ctx, id)).notices).toMatchObject([{ attempts: 1, sent_at: expect.any(String) }])
})

test('the list of withdrawals begins with the earliest due date, and continues page by page', async () => {
  const ids = Array.from({ length: 52 }, () => ctx.secrets.randomId('wd_'))
  for (const id of ids) {
    ctx.clock.advance(1_000)
    await insertWithdrawal(ctx, id)
  }
  const first = await listWithdrawals(ctx, { state: 'processing' })
  expect(first.withdrawals.map(({ withdrawal_id }) => withdrawal_id)).toEqual(ids.slice(0, 50))
  const second = await listWithdrawals(ctx, { state: 'processing', after: first.next ?? '' })
  expect(second.withdrawals.map(({ withdrawal_id }) => withdrawal_id)).toEqual(ids.slice(50))
  expect(second.next).toBeNull()
  expect((await listWithdrawals(ctx, { state: 'processing', after: "0' OR 1" })).withdrawals).toHaveLength(50)
  expect((await listWithdrawals(ctx, { state: 'completed' })).withdrawals).toEqual([])
  ctx.clock.advance(40 * 24 * hour)
  expect((await listWithdrawals(ctx, { state: 'processing' })).withdrawals[0]).toMatchObject({ is_past_due: true })
})

const insertWithdrawal = ({ db, clock }: TestContext, id: string) => {
  const [now, later] = [clock.now(), new Date(clock.now().getTime() + 30 * 24 * hour)]
  const keeps = { keepAnalytics: false, keepAuditLogs: false, keepTransactionHistory: false }
  const times = { startedAt: now, scheduledCompletion: later, purgeDueAt: later, dueBy: later }
  return db.withdrawal.create({ data: { id, userId: id, ...keeps, ...times } })
}
