import { beforeEach, expect, test } from 'vitest'
import { givenUser, pass, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { LATER_STEPS } from '@/testing/later-steps'
import { outcomeOf } from '@/testing/outcomes'
import { givenWithdrawal, withdrawAs } from '@/testing/withdrawals'
import { connectApp } from '../applications/connect'
import { day, hour, minute } from '../limits/durations'
import { retryWithdrawal } from './operate-withdrawal'
import { DELETION_STEPS } from './steps/deletion-steps'
import { groupTroubles, watchTroubles } from './watch-overview'
import { countWithdrawals, troubledWithdrawals, watchBacklog } from './watch-withdrawals'

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
  await ctx.db.$executeRaw`TRUNCATE users, withdrawals, notices, outbox_events, audit_events CASCADE`
})

const DUE_AFTER_AN_HOUR = LATER_STEPS.filter((step) => DELETION_STEPS[step].window.dueMs > hour).length

test('withdrawals are counted by state from their start to their purge', async () => {
  const states = () => countWithdrawals(ctx)
  expect(await states()).toEqual({ processing: 0, completed: 0, purged: 0 })
  await givenWithdrawal(ctx)
  expect(await states()).toEqual({ processing: 1, completed: 0, purged: 0 })
  ctx.clock.advance(day)
  for (let sweeps = 0; sweeps < 3; sweeps++) await runDueWork(ctx)
  expect(await states()).toEqual({ processing: 0, completed: 1, purged: 0 })
  await pass(ctx, 30 * day)
  expect(await states()).toEqual({ processing: 0, completed: 0, purged: 1 })
})

test('a step is due at its time, and overdue when no run has begun five minutes later', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const steps = async () => (await watchBacklog(ctx)).steps
  expect(await steps()).toEqual({ open: LATER_STEPS.length, due: 0, overdue: 0, failing: 0 })
  ctx.clock.advance(5 * minute)
  expect(await steps()).toEqual({ open: LATER_STEPS.length, due: 1, overdue: 0, failing: 0 })
  expect((await troubledWithdrawals(ctx)).withdrawals).toEqual([])
  ctx.clock.advance(5 * minute)
  expect(await steps()).toEqual({ open: LATER_STEPS.length, due: 1, overdue: 1, failing: 0 })
  expect((await troubledWithdrawals(ctx)).withdrawals).toMatchObject([
    {
      withdrawal_id: withdrawalId,
      deletion_steps: [{ step: 'user_profile', is_overdue: true, attempts: 0, last_error: null }],
      tasks: [],
    },
  ])
})

test('an open withdrawal is due soon a week before its due date, and overdue from then on', async () => {
  ctx.apps.answer = async () => ({ status: 503 })
  const { withdrawalId } = await givenWithdrawal(ctx, ['calendar'])
  const dueDates = async () => (await watchBacklog(ctx)).dueDates
  const { startedAt, dueBy } = await ctx.db.withdrawal.findUniqueOrThrow({ where: { id: withdrawalId } })
  expect([startedAt, dueBy]).toEqual([new Date('2026-11-20T09:00:00.000Z'), new Date('2026-12-20T09:00:00.000Z')])
  await pass(ctx, 23 * day - 1)
  expect(await dueDates()).toEqual({ soon: 0, overdue: 0 })
  ctx.clock.advance(1)
  expect(await dueDates()).toEqual({ soon: 1, overdue: 0 })
  ctx.clock.advance(7 * day)
  expect(await dueDates()).toEqual({ soon: 0, overdue: 1 })
  ctx.apps.answer = async () => ({ status: 204 })
  await retryWithdrawal(ctx, { withdrawalId })
  await runDueWork(ctx)
  expect(await dueDates()).toEqual({ soon: 0, overdue: 0 })
})

test('withdrawals that need attention are listed by due date, including those that an older release started', async () => {
  ctx.apps.answer = async () => ({ status: 503 })
  const ids: string[] = []
  for (let each = 0; each < 3; each++) ids.push((await givenWithdrawal(ctx, ['calendar'])).withdrawalId)
  const [first, second, third] = ids as [string, string, string]
  // The statutory period was different then.
  await ctx.db.withdrawal.update({ where: { id: first }, data: { dueBy: new Date('2027-01-04T09:00:00.000Z') } })
  await ctx.db.withdrawal.update({ where: { id: second }, data: { dueBy: null } })
  await ctx.db.withdrawal.update({ where: { id: third }, data: { dueBy: new Date('2026-12-01T09:00:00.000Z') } })
  await pass(ctx, hour)
  const { withdrawals } = await troubledWithdrawals(ctx)
  expect(withdrawals.map(({ withdrawal_id, due_by }) => [withdrawal_id, due_by])).toEqual([
    [third, '2026-12-01T09:00:00.000Z'],
    [second, '2026-12-20T09:00:00.000Z'],
    [first, '2027-01-04T09:00:00.000Z'],
  ])
})

test('an application that does not answer is shown with its attempts, its error and its next try, and no personal data', async () => {
  const { userId, email, withdrawalId } = await givenWithdrawal(ctx, ['calendar'])
  ctx.apps.answer = async () => ({ status: 503 })
  await pass(ctx, hour)
  const { withdrawals } = await troubledWithdrawals(ctx)
  const failure = { attempts: 1, last_error: 'HTTP 503', due_at: expect.stringMatching(/Z$/) }
  expect((await watchBacklog(ctx)).steps).toEqual({ open: 1 + DUE_AFTER_AN_HOUR, due: 0, overdue: 0, failing: 1 })
  expect(withdrawals).toMatchObject([
    {
      withdrawal_id: withdrawalId,
      deletion_steps: [{ step: 'third_party_integrations', ...failure, is_overdue: false }],
      tasks: [{ name: 'calendar', ...failure }],
    },
  ])
  const text = JSON.stringify(withdrawals)
  for (const personal of [userId, email, '"Ada']) expect(text).not.toContain(personal)
})

test('an application that a late withdrawal waits for is named although another one fails', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['calendar', 'shop'])
  ctx.apps.answer = async ({ endpoint }) => ({ status: endpoint.includes('calendar') ? 503 : 202 })
  await ctx.db.connectedApp.updateMany({ where: { name: 'shop' }, data: { endpoint: null } })
  const named = async () => (await troubledWithdrawals(ctx)).withdrawals[0]?.tasks.map(({ name }) => name)
  await pass(ctx, hour)
  expect(await named()).toEqual(['calendar'])
  await pass(ctx, day)
  expect(await named()).toEqual(['calendar', 'shop'])
  expect(groupTroubles(await watchTroubles(ctx)).apps).toMatchObject([
    { name: 'calendar', tasks: [{ withdrawal_id: withdrawalId }] },
    { name: 'shop', tasks: [{ withdrawal_id: withdrawalId }] },
  ])
})

/** The warnings to the operator from here on. */
const newWarnings = () => {
  const from = ctx.warnings.length
  return () => ctx.warnings.slice(from)
}
const silent = async () => (await watchBacklog(ctx)).silentApps

test('an application without a good answer for 24 hours is counted, and reported in one line', async () => {
  const warnings = newWarnings()
  const { withdrawalId } = await givenWithdrawal(ctx, ['calendar', 'shop'])
  await givenWithdrawal(ctx, [])
  ctx.apps.answer = async ({ endpoint }) => ({ status: endpoint.includes('calendar') ? 503 : 204 })
  ctx.clock.advance(hour)
  const since = ctx.clock.now()
  await runDueWork(ctx)
  await pass(ctx, day - 1)
  expect([await silent(), warnings()]).toEqual([0, []])
  ctx.clock.advance(1)
  await Promise.all([runDueWork(ctx), runDueWork(ctx)])
  const { appId } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId, appName: 'calendar' } })
  expect(await silent()).toBe(1)
  expect(warnings()).toEqual([{ event: 'connected_app_silent', appId, waiting: 1, since: since.toISOString() }])
  await pass(ctx, 10 * day)
  expect([await silent(), warnings().length]).toEqual([1, 1])
})

test('an application that answers and falls silent again is reported again', async () => {
  const warnings = newWarnings()
  const { withdrawalId } = await givenWithdrawal(ctx, ['calendar'])
  const { appId } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })
  ctx.apps.answer = async () => ({ status: 0, problem: 'ECONNREFUSED' })
  for (const ms of [hour, day]) await pass(ctx, ms)
  expect([await silent(), warnings().length]).toEqual([1, 1])
  ctx.apps.answer = async () => ({ status: 204 })
  await pass(ctx, day)
  expect([await silent(), warnings().length]).toEqual([0, 1])
  expect(await ctx.db.connectedApp.findUnique({ where: { id: appId } })).toMatchObject({ silentAt: null })
  const user = await givenUser(ctx)
  await connectApp(ctx, { userId: user.userId, appId, subject: 'second' })
  await withdrawAs(ctx, user)
  ctx.apps.answer = async () => ({ status: 500 })
  for (const ms of [hour, day]) await pass(ctx, ms)
  expect([await silent(), warnings().length]).toEqual([1, 2])
})

test('a retry makes failed work due now, and is audited for the operator and not for the user', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['calendar'])
  ctx.apps.answer = async () => ({ status: 503 })
  await pass(ctx, hour)
  ctx.apps.answer = async () => ({ status: 204 })
  expect(await retryWithdrawal(ctx, { withdrawalId })).toMatchObject({
    retried: true,
    retried_steps: ['third_party_integrations'],
  })
  await runDueWork(ctx)
  expect((await watchBacklog(ctx)).steps).toMatchObject({ open: DUE_AFTER_AN_HOUR, failing: 0 })
  const audited = await ctx.db.auditEvent.findMany({ where: { action: 'withdrawal.retried' } })
  expect(audited).toMatchObject([{ userId: 'operator-command', actor: 'operator', subjectId: withdrawalId }])
  expect(await outcomeOf(retryWithdrawal(ctx, { withdrawalId: 'wd_unknown' }))).toBe('WITHDRAWAL_004')
  expect(await ctx.db.auditEvent.count({ where: { action: 'withdrawal.retried' } })).toBe(1)
})

test('waiting messages, failed messages and events that the engine has not taken are counted', async () => {
  ctx.mailServer.accepts = false
  ctx.engine.accepts = false
  await givenWithdrawal(ctx)
  expect(await watchBacklog(ctx)).toMatchObject({ outbox: 1, notices: { waiting: 1, failed: 0 } })
  ctx.engine.accepts = true
  ctx.clock.advance(minute)
  await ctx.db.notice.updateMany({ data: { dueAt: null, failedAt: ctx.clock.now() } })
  await runDueWork(ctx)
  expect(await watchBacklog(ctx)).toMatchObject({ outbox: 0, notices: { waiting: 0, failed: 1 } })
  ctx.clock.advance(30 * day)
  expect(await watchBacklog(ctx)).toMatchObject({ notices: { failed: 0 } })
})
