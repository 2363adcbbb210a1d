import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSemaphore } from './semaphore'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The state of each caller: acquired, refused (EBUSY), or still waiting. */
function givenCallers(semaphore: ReturnType<typeof createSemaphore>, count: number) {
  const states: string[] = Array.from({ length: count }, () => 'waits')
  for (const caller of states.keys()) {
    semaphore.acquire().then(
      () => (states[caller] = 'acquired'),
      ({ code }) => (states[caller] = code),
    )
  }
  return states
}
const settle = () => vi.advanceTimersByTimeAsync(0)

test('as many callers as there are permits go on at once, and each release lets the caller go on that came first', async () => {
  const semaphore = createSemaphore(2, { maxWaitMs: 5_000 })
  const states = givenCallers(semaphore, 5)
  await settle()
  expect(states).toEqual(['acquired', 'acquired', 'waits', 'waits', 'waits'])
  semaphore.release()
  await settle()
  expect(states).toEqual(['acquired', 'acquired', 'acquired', 'waits', 'waits'])
  semaphore.release()
  semaphore.release()
  await settle()
  expect(states).toEqual(Array(5).fill('acquired'))
})

test('a caller that waits too long is refused, and the next permit goes to the caller after it', async () => {
  const semaphore = createSemaphore(1, { maxWaitMs: 5_000 })
  const early = givenCallers(semaphore, 2)
  await vi.advanceTimersByTimeAsync(4_999)
  const late = givenCallers(semaphore, 1)
  await vi.advanceTimersByTimeAsync(1)
  expect([early, late]).toEqual([['acquired', 'EBUSY'], ['waits']])
  semaphore.release()
  await settle()
  expect(late).toEqual(['acquired'])
})

test('no permit is lost or given twice, however often all callers release and come again', async () => {
  const semaphore = createSemaphore(3, { maxWaitMs: 5_000 })
  for (let round = 0; round < 5; round++) {
    const states = givenCallers(semaphore, 4)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(states).toEqual(['acquired', 'acquired', 'acquired', 'EBUSY'])
    for (let permit = 0; permit < 3; permit++) semaphore.release()
  }
})
