import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createGate } from './operator-gate'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What becomes of each who came: in, refused, or still waiting. */
function givenVisitors(gate: ReturnType<typeof createGate>, count: number) {
  const fates: string[] = Array.from({ length: count }, () => 'waits')
  for (const visitor of fates.keys()) {
    gate.enter().then(
      () => (fates[visitor] = 'in'),
      ({ code }) => (fates[visitor] = code),
    )
  }
  return fates
}
const settle = () => vi.advanceTimersByTimeAsync(0)

test('so many enter at once, and each who leaves lets in who came first', async () => {
  const gate = createGate(2, 5_000)
  const fates = givenVisitors(gate, 5)
  await settle()
  expect(fates).toEqual(['in', 'in', 'waits', 'waits', 'waits'])
  gate.leave()
  await settle()
  expect(fates).toEqual(['in', 'in', 'in', 'waits', 'waits'])
  gate.leave()
  gate.leave()
  await settle()
  expect(fates).toEqual(Array(5).fill('in'))
})

test('who waits too long is refused, and the place that comes free is the next one’s', async () => {
  const gate = createGate(1, 5_000)
  const early = givenVisitors(gate, 2)
  await vi.advanceTimersByTimeAsync(4_999)
  const late = givenVisitors(gate, 1)
  await vi.advanceTimersByTimeAsync(1)
  expect([early, late]).toEqual([['in', 'EBUSY'], ['waits']])
  gate.leave()
  await settle()
  expect(late).toEqual(['in'])
})

test('no place is lost or given twice, however often all leave and come again', async () => {
  const gate = createGate(3, 5_000)
  for (let round = 0; round < 5; round++) {
    const fates = givenVisitors(gate, 4)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(fates).toEqual(['in', 'in', 'in', 'EBUSY'])
    for (let place = 0; place < 3; place++) gate.leave()
  }
})
