import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TaskState } from '@/contract/tasks'
import { call, day, hour } from '@/testing/api-calls'
import { runDueWork, testContext } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { outcomeOf } from '@/testing/outcomes'
import { clearWithdrawals, givenParticipant, givenWithdrawal, stepOf } from '@/testing/withdrawals'
import { listTasks } from './list-tasks'
import { waiveTask } from './operate-tasks'
import { reportPlaceOf } from './task-token'

type Report = { status: 'processing' | 'completed' | 'failed'; done: number }
type Action =
  | { kind: 'wait' }
  | { kind: 'sweep'; answer: 200 | 202 | 404 | 500; before: Report | null }
  | { kind: 'report'; report: Report }
  | { kind: 'waive' }

const report: fc.Arbitrary<Report> = fc.record({
  status: fc.constantFrom('processing', 'processing', 'completed', 'failed'),
  done: fc.integer({ min: 0, max: 4 }),
})
const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: fc.constant<Action>({ kind: 'wait' }), weight: 3 },
  {
    arbitrary: fc.record<Action & { kind: 'sweep' }>({
      kind: fc.constant('sweep'),
      answer: fc.constantFrom(202, 202, 202, 500, 500, 200, 404),
      before: fc.option(report, { freq: 5 }),
    }),
    weight: 4,
  },
  { arbitrary: fc.record<Action & { kind: 'report' }>({ kind: fc.constant('report'), report }), weight: 4 },
  { arbitrary: fc.constant<Action>({ kind: 'waive' }), weight: 1 },
)

/** The table of task states, written as simply as possible. */
class Model {
  state: TaskState = 'pending'
  isDue = true
  done = 0
  calls = 0

  get isOver() {
    return this.state === 'completed' || this.state === 'waived'
  }

  wait() {
    if (this.state === 'accepted') this.state = 'pending'
    this.isDue = true
  }

  /** The answer to the application. */
  hear({ status, done }: Report): string {
    if (this.isOver) return status === 'completed' && this.state === 'completed' ? 'accepted' : 'TASK_002'
    if (status === 'processing' && done < this.done) return 'REQUEST_001'
    this.state = status === 'processing' ? 'accepted' : status === 'completed' ? 'completed' : 'pending'
    this.done = status === 'failed' ? 0 : Math.max(done, this.done)
    this.isDue = false
    return 'accepted'
  }

  begin() {
    this.state = 'calling'
    this.done = 0
    this.calls++
  }

  answer(status: number) {
    if (status !== 202 && status !== 500) {
      if (this.state !== 'waived') this.state = 'completed'
    } else if (this.state === 'calling') {
      this.state = status === 202 ? 'accepted' : 'pending'
      this.isDue = false
    }
  }

  waive(): string {
    if (this.state === 'completed') return 'TASK_002'
    this.state = 'waived'
    return 'accepted'
  }
}

test('I15 a deletion task goes through its states as the table says, in any order of events', {
  timeout: 120_000,
}, async () => {
  const ctx = await testContext()
  installContext(ctx)
  const run = async (actions: Action[]) => {
    await clearWithdrawals(ctx)
    ctx.apps.answer = async () => ({ status: 204 })
    const appId = await givenParticipant(ctx, 'shop')
    const { withdrawalId } = await givenWithdrawal(ctx)
    const { id: taskId } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId, appId } })
    const { report_token: token } = reportPlaceOf(ctx, taskId)
    ctx.clock.advance(hour)
    const model = new Model()
    let calls = 0
    const say = async ({ status, done }: Report) => {
      const asking = { ids: { taskId }, body: { status, progress: { done, total: 4 } } }
      return (await call({ userId: '', token }, 'reportOnTask', asking)).code
    }
    for (const one of actions) {
      if (one.kind === 'wait') {
        // Longer than any back-off and any wait for a report.
        ctx.clock.advance(2 * day)
        model.wait()
      } else if (one.kind === 'report') {
        expect(await say(one.report)).toBe(model.hear(one.report))
      } else if (one.kind === 'waive') {
        expect(await outcomeOf(waiveTask(ctx, { taskId, reason: 'gone' }))).toBe(model.waive())
      } else {
        let said: [came: string, due: string] | null = null
        ctx.apps.answer = async () => {
          calls++
          model.begin()
          if (one.before) said = [await say(one.before), model.hear(one.before)]
          return { status: one.answer }
        }
        const isCalled = !model.isOver && model.state === 'pending' && model.isDue
        const callsBefore = calls
        await runDueWork(ctx)
        expect(calls - callsBefore).toBe(isCalled ? 1 : 0)
        if (isCalled) model.answer(one.answer)
        if (said) expect(said[0]).toBe(said[1])
      }
      await ctx.settle()
      if (one.kind === 'waive') await runDueWork(ctx)
      const [task] = (await listTasks(ctx, { withdrawalId })).tasks
      expect(task?.state).toBe(model.state)
      if (model.state === 'accepted') expect(task?.progress?.done ?? 0).toBe(model.done)
      const step = await stepOf(ctx, withdrawalId, 'third_party_integrations')
      expect(step.status === 'completed').toBe(model.isOver)
      expect(step.dueAt === null).toBe(model.isOver)
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 12 }), run), {
    numRuns: 30,
    endOnFailure: true,
  })
})
