import { expect, test } from 'vitest'
import { batched } from './batched'
import type { SystemContext } from './context'

const context = () => ({ clock: { now: () => new Date() } }) as SystemContext

test('what comes in one turn is one run, and what comes during a run is the next', async () => {
  const runs: string[][] = []
  let release = () => {}
  const run = batched<string>(async (_ctx, items) => {
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

test('a run that fails fails for those who share it, and for nobody after them', async () => {
  const run = batched<number>(async (_ctx, items) => {
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
  const run = batched<string>(async (_ctx, [item = '']) => {
    if (item === 'slow') await new Promise<void>((resolve) => (release = resolve))
    done.push(item)
  })
  const slow = run(context(), 'slow')
  await run(context(), 'quick')
  release()
  await slow
  expect(done).toEqual(['quick', 'slow'])
})
