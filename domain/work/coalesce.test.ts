import { expect, onTestFinished, test, vi } from 'vitest'
import type { SystemContext } from '../context'
import { createProcess } from '../process'
import { coalesced, coalescedLookup } from './coalesce'

const context = () => ({ process: createProcess() }) as SystemContext

test('calls of the same turn share a run, and calls during a run share the next one', async () => {
  const runs: string[][] = []
  let release = () => {}
  const run = coalesced<string>('run', async (_ctx, items) => {
    runs.push(items)
    if (runs.length === 1) await new Promise<void>((resolve) => (release = resolve))
  })
  const ctx = context()
  const first = [run(ctx, 'a'), run({ ...ctx }, 'b', 'c')]
  await expect.poll(() => runs).toEqual([['a', 'b', 'c']])
  const second = [run(ctx, 'd'), run(ctx, 'e')]
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toHaveLength(1)
  release()
  await Promise.all([...first, ...second])
  expect(runs).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ])
})

test('a failed run fails only for the calls that share it', async () => {
  const run = coalesced<number>('run', async (_ctx, items) => {
    if (items.includes(1)) throw new Error('lost')
  })
  const ctx = context()
  const failing = [run(ctx, 1), run(ctx, 2)]
  const outcomes = await Promise.allSettled([...failing, failing[0]?.catch(() => run(ctx, 3))])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  await run(ctx, 4)
})

test('two services do not wait for each other', async () => {
  let release = () => {}
  const done: string[] = []
  const run = coalesced<string>('run', async (_ctx, [item = '']) => {
    if (item === 'slow') await new Promise<void>((resolve) => (release = resolve))
    done.push(item)
  })
  const slow = run(context(), 'slow')
  await run(context(), 'quick')
  release()
  await slow
  expect(done).toEqual(['quick', 'slow'])
})

/** A database that answers a statement only when the test says so. Timers run only when the test advances them. */
function heldQuestions() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const statements: { questions: string[]; answer(): void; fail(): void }[] = []
  const ask = coalescedLookup<string, string>(
    'ask',
    (_ctx, questions) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve(questions.map((question) => `answer to ${question}`))
        statements.push({ questions, answer, fail: () => reject(new Error('lost')) })
      }),
  )
  return { ask, statements, batches: () => statements.map(({ questions }) => questions) }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('no question joins a statement that has begun; while two are active, the others share the next one', async () => {
  const { ask, statements, batches } = heldQuestions()
  const ctx = context()
  const answers: Promise<string>[] = []
  for (const question of ['a', 'b', 'c', 'd']) {
    answers.push(ask(ctx, question))
    await turn()
  }
  expect(batches()).toEqual([['a'], ['b']])
  statements[1]?.answer()
  await turn()
  expect(batches()).toEqual([['a'], ['b'], ['c', 'd']])
  for (const { answer } of statements) answer()
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'].map((question) => `answer to ${question}`))
})

test('a statement whose connection breaks is repeated once, and then fails only for the calls that share it', async () => {
  const { ask, statements, batches } = heldQuestions()
  const ctx = context()
  const outcomes = Promise.allSettled(['a', 'b'].map((question) => ask(ctx, question)))
  await turn()
  const second = ask(ctx, 'c')
  await turn()
  const third = ask(ctx, 'd')
  statements[0]?.fail()
  await turn()
  expect(batches()).toEqual([['a', 'b'], ['c'], ['a', 'b']])
  statements[2]?.fail()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await turn()
  expect(batches()).toEqual([['a', 'b'], ['c'], ['a', 'b'], ['d']])
  for (const { answer } of statements) answer()
  expect(await Promise.all([second, third])).toEqual(['answer to c', 'answer to d'])
})

test('statements that hang delay only the calls that share them, and are not repeated', async () => {
  const { ask, statements, batches } = heldQuestions()
  const ctx = context()
  const outcomes: Promise<PromiseSettledResult<string>[]>[] = []
  for (const question of ['a', 'b', 'c', 'd']) {
    outcomes.push(Promise.allSettled([ask(ctx, question)]))
    await turn()
  }
  expect(batches()).toEqual([['a'], ['b']])
  vi.advanceTimersByTime(100)
  expect(batches()).toEqual([['a'], ['b'], ['c', 'd']])
  statements[2]?.answer()
  expect(await Promise.all(outcomes.slice(2))).toMatchObject([[{ status: 'fulfilled' }], [{ status: 'fulfilled' }]])
  for (const { fail } of statements) fail()
  expect(await Promise.all(outcomes.slice(0, 2))).toMatchObject([[{ status: 'rejected' }], [{ status: 'rejected' }]])
  expect(batches()).toHaveLength(3)
  const after = ask(ctx, 'e')
  await turn()
  statements[3]?.answer()
  expect(await after).toBe('answer to e')
})

test('a slow database gets a longer timeout, and no more statements at once', async () => {
  const { ask, statements, batches } = heldQuestions()
  const ctx = context()
  const first = ask(ctx, 'a')
  await turn()
  vi.advanceTimersByTime(1_000)
  statements[0]?.answer()
  await first
  const answers: Promise<string>[] = []
  for (const question of ['b', 'c', 'd']) {
    answers.push(ask(ctx, question))
    await turn()
  }
  vi.advanceTimersByTime(3_999)
  expect(batches()).toEqual([['a'], ['b'], ['c']])
  vi.advanceTimersByTime(1)
  expect(batches()).toEqual([['a'], ['b'], ['c'], ['d']])
  for (const { answer } of statements) answer()
  expect(await Promise.all(answers)).toHaveLength(3)
})

test('two services never share a statement', async () => {
  const { ask, statements, batches } = heldQuestions()
  const answers = [ask(context(), 'a'), ask(context(), 'b')]
  await turn()
  expect(batches()).toEqual([['a'], ['b']])
  for (const { answer } of statements) answer()
  await Promise.all(answers)
})
