import { createHash } from 'node:crypto'
import type { Server } from 'node:http'
import { InngestTestEngine } from '@inngest/test'
import { Inngest } from 'inngest'
import { serve } from 'inngest/edge'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Step } from '@/contract/withdrawal'
import { DUE_WORK, type ScheduledFunction } from '@/domain/due-work'
import { runDeletionStep } from '@/domain/withdrawal/run-deletion-step'
import { DELETION_STEPS } from '@/domain/withdrawal/steps/deletion-steps'
import { ENGINE_EVENTS } from '@/domain/work/outbox'
import { engineLog } from '@/server/watch/engine-log'
import { givenWithdrawal, type TestContext } from '@/testing/domain'
import { type History, listen, runFunction } from '@/testing/engine-run'
import { installed } from '@/testing/install-context'
import { DUE_TIMES, LATER_STEPS } from '@/testing/later-steps'
import { withdrawalStarted } from './engine-events'
import { FUNCTIONS } from './functions'
import { SCHEDULED } from './functions/due-work'

const FUNCTION_ID = 'user-account-service-process-withdrawal'

let ctx: TestContext
const servers: Server[] = []

beforeEach(async () => {
  ctx = await installed()
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** The SDK's own handler, in the mode of the development server. */
async function givenHandler(): Promise<string> {
  const client = new Inngest({ id: 'user-account-service', isDev: true, logger: engineLog })
  const { url, server } = await listen(serve({ client, functions: FUNCTIONS, enableUnauthedSync: false }))
  servers.push(server)
  return url
}

async function givenRun() {
  const { withdrawalId } = await givenWithdrawal(ctx)
  return { withdrawalId, event: { name: 'account/withdrawal.started', data: { withdrawal_id: withdrawalId } } }
}

const isCompleted = async (id: string) =>
  (await ctx.db.withdrawal.findUniqueOrThrow({ where: { id } })).completedAt !== null
const stepRows = (withdrawalId: string) =>
  ctx.db.deletionStep.findMany({ where: { withdrawalId }, orderBy: { step: 'asc' } })
/** Runs the scheduled sweep as each step becomes due. */
async function sweepToTheEnd(before: () => Promise<void> = async () => {}) {
  for (const [index, dueMs] of DUE_TIMES.entries()) {
    await before()
    ctx.clock.advance(dueMs - (DUE_TIMES[index - 1] ?? 0))
    await new InngestTestEngine({ function: SCHEDULED.sweep }).execute()
    await ctx.settle()
  }
}
const sleepUntil = (at: Date) => ctx.clock.advance(at.getTime() - ctx.clock.now().getTime())

test('the engine carries a withdrawal through its seven days, over HTTP and by its own protocol', async () => {
  const begunAt = ctx.clock.now().getTime()
  const { withdrawalId, event } = await givenRun()
  const run = await runFunction({ url: await givenHandler(), functionId: FUNCTION_ID, event, sleepUntil })
  expect(run.steps.filter((name) => !/^\d{4}-/.test(name))).toEqual(['load-steps', ...LATER_STEPS])
  expect(await isCompleted(withdrawalId)).toBe(true)
  expect(ctx.clock.now().getTime() - begunAt).toBe(Math.max(...DUE_TIMES))
})

// The engine stores a run's results under the SHA-1 of these ids. A run that sleeps during a deploy finds its results only by them.
const FROZEN = [
  'load-steps',
  'wait-for-user_profile',
  'user_profile',
  'wait-for-third_party_integrations',
  'third_party_integrations',
  'wait-for-data_archives',
  'data_archives',
]
/** Those of steps that a later release has added, as they are frozen from then on. */
const FROZEN_LATER: string[] = []
const stored = (id: string) => createHash('sha1').update(id).digest('hex')
/** What the first step of the first release returned. */
const FIRST_RELEASE_STEPS = [
  { step: 'user_profile', dueAt: '2026-11-20T09:05:00.000Z' },
  { step: 'third_party_integrations', dueAt: '2026-11-20T10:00:00.000Z' },
  { step: 'data_archives', dueAt: '2026-11-21T09:00:00.000Z' },
]
/** What an engine had stored of a run that the first release had brought through these steps. */
const historyOf = (ids: string[]): History => ({
  steps: Object.fromEntries(
    ids.map((id) => [stored(id), { type: 'data', data: id === 'load-steps' ? FIRST_RELEASE_STEPS : null }]),
  ),
  stack: ids.map(stored),
})

test('F23 the ids of function, event and steps are those of the first release, in its order', async () => {
  const { event } = await givenRun()
  const history: History = { steps: {}, stack: [] }
  await runFunction({ url: await givenHandler(), functionId: FUNCTION_ID, event, sleepUntil, history })
  const known = new Map([...FROZEN, ...again(0)].map((id) => [stored(id), id]))
  const ids = history.stack.map((id) => known.get(id) ?? id)
  expect(ids.filter((id) => FROZEN.includes(id))).toEqual(FROZEN)
  expect(ids.filter((id) => !FROZEN.includes(id)).toSorted(), 'Add the ids of a new step to FROZEN_LATER.').toEqual(
    FROZEN_LATER.toSorted(),
  )
  expect(ctx.engine.events.map(({ name }) => name)).toEqual(['account/withdrawal.started'])
})

test.each(FROZEN.map((id, index) => ({ id, known: index + 1 })))(
  'a run that the first release had brought to the end of $id continues there, and the sweep runs the steps that it does not know',
  async ({ known }) => {
    const { withdrawalId, event } = await givenRun()
    const past = FROZEN.slice(0, known)
    for (const id of past) {
      if (id.startsWith('wait-for-')) {
        const [row] = await stepRows(withdrawalId).then((rows) => rows.filter(({ step }) => id.endsWith(step)))
        if (row?.dueAt) sleepUntil(row.dueAt)
      } else if (id !== 'load-steps') await runDeletionStep(ctx, { withdrawalId, step: id as Step })
    }
    const before = (await stepRows(withdrawalId)).filter(({ completedAt }) => completedAt)
    const history = historyOf(past)
    await runFunction({ url: await givenHandler(), functionId: FUNCTION_ID, event, sleepUntil, history })
    expect(history.stack).toEqual(FROZEN.map(stored))
    const completed = (await stepRows(withdrawalId)).filter(({ completedAt }) => completedAt).map(({ step }) => step)
    expect(completed).toEqual(expect.arrayContaining(FROZEN.filter((id) => LATER_STEPS.includes(id as Step))))
    await sweepToTheEnd()
    expect(await isCompleted(withdrawalId)).toBe(true)
    expect(await stepRows(withdrawalId)).toEqual(expect.arrayContaining(before))
  },
)

const dueAfter = (index: number) => DELETION_STEPS[LATER_STEPS[index] as Step].window.dueMs
const isDueWithTheLast = (index: number) => index > 0 && dueAfter(index) === dueAfter(index - 1)
/** The step ids of a run that wakes early at every step, in order; `atOnce` where a step is due together with the one before. */
const again = (wake: number, atOnce = wake) =>
  LATER_STEPS.flatMap((step, index) => [
    `wait-for-${step}`,
    step,
    ...Array.from({ length: isDueWithTheLast(index) ? atOnce : wake }, (_, time) => [
      `wait-for-${step}-again-${time + 1}`,
      `${step}-again-${time + 1}`,
    ]).flat(),
  ])

/** How many milliseconds after its due time each step of a new run ends. */
async function givenTimedRun() {
  const run = await givenRun()
  const planned = (await stepRows(run.withdrawalId)).filter(({ dueAt }) => dueAt)
  const lateness = async () => {
    const rows = await stepRows(run.withdrawalId)
    return planned.map(({ step, dueAt }) => {
      const completedAt = rows.find((row) => row.step === step)?.completedAt
      return completedAt && dueAt ? completedAt.getTime() - dueAt.getTime() : null
    })
  }
  return { ...run, lateness }
}

test('an engine that wakes 100 ms early sleeps again, and each step runs within a second after it is due', async () => {
  const { event, lateness } = await givenTimedRun()
  const history: History = { steps: {}, stack: [] }
  const wakeEarly = (at: Date) => sleepUntil(new Date(at.getTime() - 100))
  await runFunction({ url: await givenHandler(), functionId: FUNCTION_ID, event, sleepUntil: wakeEarly, history })
  expect(history.stack).toEqual(['load-steps', ...again(1)].map(stored))
  expect(await lateness()).toEqual(LATER_STEPS.map(() => 400))
})

test('an engine whose clock is an hour ahead sleeps for a given time, and each step runs within a second after it is due', async () => {
  const { event, lateness } = await givenTimedRun()
  const hourAhead = (at: Date) => sleepUntil(new Date(Math.max(ctx.clock.now().getTime(), at.getTime() - 3_600_000)))
  const history: History = { steps: {}, stack: [] }
  const sleepFor = (ms: number) => ctx.clock.advance(ms)
  const url = await givenHandler()
  await runFunction({ url, functionId: FUNCTION_ID, event, sleepUntil: hourAhead, sleepFor, history })
  expect(history.stack).toEqual(['load-steps', ...again(2, 0)].map(stored))
  const late = await lateness()
  expect(late.filter((ms) => ms === null || ms < 0 || ms >= 1_000)).toEqual([])
  expect(late).toHaveLength(LATER_STEPS.length)
})

test('an engine that never sleeps ends its run after a bounded number of steps, and the sweep ends the withdrawal', async () => {
  const { withdrawalId, event } = await givenRun()
  const history: History = { steps: {}, stack: [] }
  const atOnce = () => {}
  const url = await givenHandler()
  await runFunction({ url, functionId: FUNCTION_ID, event, sleepUntil: atOnce, sleepFor: atOnce, history })
  expect(history.stack).toEqual(['load-steps', ...again(10)].map(stored))
  await sweepToTheEnd(async () => expect(await isCompleted(withdrawalId)).toBe(false))
  expect(await isCompleted(withdrawalId)).toBe(true)
})

test('a step that an application keeps open delays neither the run nor the steps after it', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  ctx.apps.answer = async () => ({ status: 503 })
  const event = { name: 'account/withdrawal.started', data: { withdrawal_id: withdrawalId } }
  const afterOthers = async (at: Date) => {
    sleepUntil(at)
    // The sweep is faster than the engine: the application has failed, and its next try is in the future.
    await runDeletionStep(ctx, { withdrawalId, step: 'third_party_integrations' })
  }
  const run = await runFunction({ url: await givenHandler(), functionId: FUNCTION_ID, event, sleepUntil: afterOthers })
  expect(run.steps.filter((name) => name.includes('again'))).toEqual([])
  const rows = await stepRows(withdrawalId)
  expect(rows.filter(({ completedAt }) => !completedAt).map(({ step }) => step)).toEqual(['third_party_integrations'])
})

test('F29 each step completes once when every call comes twice, as after a lost answer, and a restarted run changes nothing', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  let calls = 0
  ctx.apps.answer = async () => {
    calls++
    return { status: 204 }
  }
  const event = { name: 'account/withdrawal.started', data: { withdrawal_id: withdrawalId } }
  const url = await givenHandler()
  await runFunction({ url, functionId: FUNCTION_ID, event, sleepUntil, repeatCalls: true })
  const before = await stepRows(withdrawalId)
  const completed = before.filter(({ status, attempts }) => status === 'completed' && attempts === 1)
  expect([completed.map(({ step }) => step), calls]).toEqual([LATER_STEPS.toSorted(), 1])
  ctx.clock.advance(25 * 60 * 60 * 1000)
  await runFunction({ url, functionId: FUNCTION_ID, event, sleepUntil })
  expect([await stepRows(withdrawalId), calls]).toEqual([before, 1])
})

test('the engine retries a failed step, and the withdrawal ends', async () => {
  const { withdrawalId, event } = await givenRun()
  const { transact } = ctx
  let failures = 2
  ctx.transact = (work) => (failures-- > 0 ? Promise.reject(new Error('the database went away')) : transact(work))
  let retries = 0
  const onStepError = () => {
    retries++
    ctx.clock.advance(60_000)
  }
  await runFunction({ url: await givenHandler(), functionId: FUNCTION_ID, event, sleepUntil, onStepError })
  expect(retries).toBe(2)
  expect(await isCompleted(withdrawalId)).toBe(true)
})

test('F15 an event for an unknown withdrawal has no effect', async () => {
  const event = { name: 'account/withdrawal.started', data: { withdrawal_id: 'wd_unknown' } }
  const run = await runFunction({ url: await givenHandler(), functionId: FUNCTION_ID, event, sleepUntil })
  expect(run.steps).toEqual(['load-steps'])
})

/** The ids by which an engine has stored them since the first release. Deliveries of events, password resets and the audit came later. */
const FROZEN_STEPS: Record<ScheduledFunction, string[]> = {
  sweep: ['run-due-steps', 'begin-due-deliveries', 'keep-house', 'send-audit', 'write-ledger'],
  'send-notices': ['send-due-notices', 'answer-password-resets'],
  'purge-retained-data': ['purge'],
}

test('the engine runs every job of the list of due work, each in one step of its function', async () => {
  expect(FUNCTIONS.map((fn) => fn.id()).sort()).toEqual(['process-withdrawal', ...Object.keys(SCHEDULED)].sort())
  const ran: string[] = []
  for (const [id, steps] of Object.entries(FROZEN_STEPS)) {
    const { ctx: run } = await new InngestTestEngine({ function: SCHEDULED[id as ScheduledFunction] }).execute()
    const names = vi.mocked(run.step.run).mock.calls.map(([name]) => name)
    expect([id, [...new Set(names)]]).toEqual([id, steps])
    ran.push(...steps)
  }
  expect(ran.toSorted()).toEqual(DUE_WORK.map(({ name }) => name).toSorted())
})

test('each event of the engine wakes the work that the list of due work names', () => {
  expect(DUE_WORK.flatMap(({ wokenBy }) => wokenBy ?? [])).toEqual([...ENGINE_EVENTS])
  expect(withdrawalStarted.name).toBe(ENGINE_EVENTS[0])
})
