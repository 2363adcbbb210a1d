import { createHash } from 'node:crypto'
import { InngestTestEngine } from '@inngest/test'
import { Inngest } from 'inngest'
import { serve } from 'inngest/edge'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Step } from '@/contract/withdrawal'
import { DUE_WORK, type ScheduledFunction } from '@/domain/due-work'
import { runDeletionStep } from '@/domain/withdrawal/run-deletion-step'
import { DELETION_STEPS } from '@/domain/withdrawal/steps/deletion-steps'
import { ENGINE_EVENTS } from '@/domain/work/outbox'
import type { TestContext } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { DUE_TIMES, LATER_STEPS } from '@/testing/later-steps'
import { givenWithdrawal } from '@/testing/withdrawals'
import { FUNCTIONS } from './functions'
import { SCHEDULED } from './functions/due-work'
import { processWithdrawal, withdrawalStarted } from './functions/process-withdrawal'

// The function against what Inngest promises: a step whose result is kept is not run again, any other may run again at any time.
// proof/service/inngest.ts runs it on a real engine.

let ctx: TestContext

beforeEach(async () => {
  ctx = await installed()
})

const eventOf = (withdrawalId: string) => ({
  name: 'account/withdrawal.started',
  data: { withdrawal_id: withdrawalId },
})

/** The results that an engine keeps of a run, by step. */
type Kept = Map<string, unknown>

interface Engine {
  /** Also the results of steps that an earlier release or a dead process has run. */
  kept?: Kept
  sleepUntil?: (at: Date) => void | Promise<void>
  sleepFor?: (ms: number) => void
  /** How often each step runs: more than once where the network loses answers. */
  times?: number
}

/** Runs the function and returns the ids of the steps that the engine then knows, in order. It fails where a step fails. */
async function run(withdrawalId: string, engine: Engine = {}): Promise<string[]> {
  const { kept = new Map(), sleepUntil = wakeAt, sleepFor = () => expect.unreachable(), times = 1 } = engine
  const once = async (id: string, work: () => unknown) => {
    if (!kept.has(id)) {
      for (let time = 1; time < times; time++) await work()
      kept.set(id, JSON.parse(JSON.stringify((await work()) ?? null)))
    }
    return kept.get(id)
  }
  const step = {
    run: once,
    sleepUntil: (id: string, at: string | Date) => once(id, () => sleepUntil(new Date(at))),
    sleep: (id: string, ms: number) => once(id, () => sleepFor(ms)),
  }
  const { error } = await new InngestTestEngine({
    function: processWithdrawal,
    events: [eventOf(withdrawalId)],
    transformCtx: (given) => ({ ...given, step: step as unknown as typeof given.step }),
  }).execute()
  if (error) throw error
  return [...kept.keys()]
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
const wakeAt = (at: Date) => ctx.clock.advance(Math.max(0, at.getTime() - ctx.clock.now().getTime()))

test('the engine carries a withdrawal through its seven days', async () => {
  const startedAt = ctx.clock.now().getTime()
  const { withdrawalId } = await givenWithdrawal(ctx)
  const steps = await run(withdrawalId)
  expect(steps.filter((id) => !id.startsWith('wait-for-'))).toEqual(['load-steps', ...LATER_STEPS])
  expect(await isCompleted(withdrawalId)).toBe(true)
  expect(ctx.clock.now().getTime() - startedAt).toBe(Math.max(...DUE_TIMES))
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
/** What the first step of the first release returned. */
const FIRST_RELEASE_STEPS = [
  { step: 'user_profile', dueAt: '2026-11-20T09:05:00.000Z' },
  { step: 'third_party_integrations', dueAt: '2026-11-20T10:00:00.000Z' },
  { step: 'data_archives', dueAt: '2026-11-21T09:00:00.000Z' },
]

test('F23 the ids of function, event and steps are those of the first release, in its order', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  expect(processWithdrawal.id('user-account-service')).toBe('user-account-service-process-withdrawal')
  const ids = await run(withdrawalId)
  expect(ids.filter((id) => FROZEN.includes(id))).toEqual(FROZEN)
  expect(ids.filter((id) => !FROZEN.includes(id)).toSorted(), 'Add the ids of a new step to FROZEN_LATER.').toEqual(
    FROZEN_LATER.toSorted(),
  )
  expect(ctx.engine.events.map(({ name }) => name)).toEqual(['account/withdrawal.started'])
})

test('F23 the engine is told of a step under the SHA-1 of its id, and asked to go on after it by that alone', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const client = new Inngest({ id: 'user-account-service', isDev: true })
  const handle = serve({ client, functions: FUNCTIONS, enableUnauthedSync: false })
  const event = { id: 'evt', ts: 0, ...eventOf(withdrawalId) }
  const stored = (id: string) => createHash('sha1').update(id).digest('hex')
  const answerTo = async (steps: object, stack: string[]) => {
    const state = { run_id: 'run', attempt: 0, stack: { stack, current: stack.length } }
    const request = new Request(
      'http://localhost/api/inngest?fnId=user-account-service-process-withdrawal&stepId=step',
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'x-inngest-req-version': '2', Host: 'localhost' },
        body: JSON.stringify({ version: 2, event, events: [event], steps, ctx: state }),
      },
    )
    return (await handle(request)).json()
  }
  const id = stored('load-steps')
  const [first] = await answerTo({}, [])
  expect(first).toMatchObject({ id, op: 'StepRun', data: FIRST_RELEASE_STEPS })
  const second = await answerTo({ [id]: { type: 'data', data: first.data } }, [id])
  expect(second).toMatchObject([
    { id: stored('wait-for-user_profile'), op: 'Sleep', name: FIRST_RELEASE_STEPS[0]?.dueAt },
  ])
})

test.each(FROZEN.map((id, index) => ({ id, known: index + 1 })))(
  'F23 a run that the first release had brought to the end of $id continues there, and the sweep runs the steps that it does not know',
  async ({ known }) => {
    const { withdrawalId } = await givenWithdrawal(ctx)
    const past = FROZEN.slice(0, known)
    for (const id of past) {
      if (id.startsWith('wait-for-')) {
        const [row] = await stepRows(withdrawalId).then((rows) => rows.filter(({ step }) => id.endsWith(step)))
        if (row?.dueAt) wakeAt(row.dueAt)
      } else if (id !== 'load-steps') await runDeletionStep(ctx, { withdrawalId, step: id as Step })
    }
    const before = (await stepRows(withdrawalId)).filter(({ completedAt }) => completedAt)
    const kept: Kept = new Map(past.map((id) => [id, id === 'load-steps' ? FIRST_RELEASE_STEPS : null]))
    expect(await run(withdrawalId, { kept })).toEqual(FROZEN)
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

/** A withdrawal, and how many milliseconds after its due time each of its steps ended. */
async function givenTimed() {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const planned = (await stepRows(withdrawalId)).filter(({ dueAt }) => dueAt)
  const lateness = async () => {
    const rows = await stepRows(withdrawalId)
    return planned.map(({ step, dueAt }) => {
      const completedAt = rows.find((row) => row.step === step)?.completedAt
      return completedAt && dueAt ? completedAt.getTime() - dueAt.getTime() : null
    })
  }
  return { withdrawalId, lateness }
}

test('an engine that wakes 100 ms early sleeps again, and each step runs within a second after it is due', async () => {
  const { withdrawalId, lateness } = await givenTimed()
  const sleepUntil = (at: Date) => wakeAt(new Date(at.getTime() - 100))
  expect(await run(withdrawalId, { sleepUntil })).toEqual(['load-steps', ...again(1)])
  expect(await lateness()).toEqual(LATER_STEPS.map(() => 400))
})

test('an engine whose clock is an hour ahead sleeps for a given time, and each step runs within a second after it is due', async () => {
  const { withdrawalId, lateness } = await givenTimed()
  const sleepUntil = (at: Date) => wakeAt(new Date(at.getTime() - 3_600_000))
  const steps = await run(withdrawalId, { sleepUntil, sleepFor: (ms) => ctx.clock.advance(ms) })
  expect(steps).toEqual(['load-steps', ...again(2, 0)])
  const late = await lateness()
  expect(late.filter((ms) => ms === null || ms < 0 || ms >= 1_000)).toEqual([])
})

test('an engine that never sleeps ends its run after a bounded number of steps, and the sweep ends the withdrawal', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const atOnce = () => {}
  expect(await run(withdrawalId, { sleepUntil: atOnce, sleepFor: atOnce })).toEqual(['load-steps', ...again(10)])
  await sweepToTheEnd(async () => expect(await isCompleted(withdrawalId)).toBe(false))
  expect(await isCompleted(withdrawalId)).toBe(true)
})

test('a step that an application keeps open delays neither the run nor the steps after it', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  ctx.apps.answer = async () => ({ status: 503 })
  const sleepUntil = async (at: Date) => {
    wakeAt(at)
    // The sweep is faster than the engine: the application has failed, and its next try is in the future.
    await runDeletionStep(ctx, { withdrawalId, step: 'third_party_integrations' })
  }
  const steps = await run(withdrawalId, { sleepUntil })
  expect(steps.filter((id) => id.includes('again'))).toEqual([])
  const rows = await stepRows(withdrawalId)
  expect(rows.filter(({ completedAt }) => !completedAt).map(({ step }) => step)).toEqual(['third_party_integrations'])
})

test('F14 F15 F29 each step completes once when every answer is lost, and an event that comes again during the run or after its end changes nothing', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  let calls = 0
  ctx.apps.answer = async () => {
    calls++
    return { status: 204 }
  }
  let sleeps = 0
  const sleepUntil = async (at: Date) => {
    if (++sleeps === 2) await run(withdrawalId, { times: 2 })
    wakeAt(at)
  }
  await run(withdrawalId, { times: 2, sleepUntil })
  const before = await stepRows(withdrawalId)
  const completed = before.filter(({ status, attempts }) => status === 'completed' && attempts === 1)
  expect([completed.map(({ step }) => step), calls]).toEqual([LATER_STEPS.toSorted(), 1])
  ctx.clock.advance(25 * 60 * 60 * 1000)
  await run(withdrawalId)
  expect([await stepRows(withdrawalId), calls]).toEqual([before, 1])
})

test('the engine retries a failed step, and the withdrawal ends', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const { transact } = ctx
  let failures = 2
  ctx.transact = (work) => (failures-- > 0 ? Promise.reject(new Error('the database went away')) : transact(work))
  const kept: Kept = new Map()
  for (let retries = 0; retries < 2; retries++) {
    await expect(run(withdrawalId, { kept })).rejects.toMatchObject({ message: expect.stringContaining('failed') })
    ctx.clock.advance(60_000)
  }
  await run(withdrawalId, { kept })
  expect(await isCompleted(withdrawalId)).toBe(true)
})

test('F15 an event for an unknown withdrawal has no effect', async () => {
  expect(await run('wd_unknown')).toEqual(['load-steps'])
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
    const { ctx: given } = await new InngestTestEngine({ function: SCHEDULED[id as ScheduledFunction] }).execute()
    const names = vi.mocked(given.step.run).mock.calls.map(([name]) => name)
    expect([id, [...new Set(names)]]).toEqual([id, steps])
    ran.push(...steps)
  }
  expect(ran.toSorted()).toEqual(DUE_WORK.map(({ name }) => name).toSorted())
})

test('each event of the engine wakes the work that the list of due work names', () => {
  expect(DUE_WORK.flatMap(({ wokenBy }) => wokenBy ?? [])).toEqual([...ENGINE_EVENTS])
  expect(withdrawalStarted.name).toBe(ENGINE_EVENTS[0])
})
