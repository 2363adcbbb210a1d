import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { processState } from '@/server/process-state'
import { createLog } from './watch/log'

const settings = vi.hoisted(() => ({ hasEngine: false, withdrawalTimeScale: 1 }))
const works = vi.hoisted(() => ({ steps: vi.fn(async () => {}), house: vi.fn(async () => {}) }))
vi.mock('./settings/env', () => ({ getEnv: () => ({ logLevel: 'silent', ...settings }) }))
vi.mock('./system-context', () => ({ systemContext: () => ({}) }))
vi.mock('@/domain/due-work', () => ({ DUE_WORK: [{ run: works.steps }, { run: works.house }] }))

beforeEach(() => {
  vi.useFakeTimers()
  processState.isSweeping = undefined
})
afterEach(() => {
  vi.useRealTimers()
  vi.resetAllMocks()
})

async function startTimer() {
  const timer = await import('./timer')
  timer.startTimer()
}

test.each([
  { hasEngine: false, scale: 1, everyMs: 15_000 },
  { hasEngine: true, scale: 1, everyMs: 60_000 },
  { hasEngine: true, scale: 0.1, everyMs: 6_000 },
  { hasEngine: false, scale: 0.0001, everyMs: 250 },
])(
  'with an engine: $hasEngine, and a time scale of $scale, the sweep runs every $everyMs ms',
  async ({ hasEngine, scale, everyMs }) => {
    Object.assign(settings, { hasEngine, withdrawalTimeScale: scale })
    await startTimer()
    for (let runs = 0; runs < 3; runs++) {
      await vi.advanceTimersByTimeAsync(everyMs - 1)
      expect(works.steps).toHaveBeenCalledTimes(runs)
      await vi.advanceTimersByTimeAsync(1)
      expect(works.steps).toHaveBeenCalledTimes(runs + 1)
    }
  },
)

test('a part of the sweep that fails or hangs delays no other part, and a failed part runs again', async () => {
  Object.assign(settings, { hasEngine: true, withdrawalTimeScale: 1 })
  works.steps.mockRejectedValueOnce(new Error('broken'))
  works.house.mockReturnValueOnce(new Promise(() => {}))
  await startTimer()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(works.steps).toHaveBeenCalledTimes(2)
  expect(works.house).toHaveBeenCalledTimes(1)
})

test('a second call starts no second sweep in the same process', async () => {
  Object.assign(settings, { hasEngine: false, withdrawalTimeScale: 1 })
  await startTimer()
  await startTimer()
  await vi.advanceTimersByTimeAsync(15_000)
  expect(works.steps).toHaveBeenCalledTimes(1)
})

test.each([
  ['nothing', 'Cannot use a pool after calling end on the pool', []],
  ['what is another fault', 'broken', ['due_work_failed']],
])(
  'a service that stops begins no further part of the sweep, and says of one that fails then %s',
  async (_, message, said) => {
    Object.assign(settings, { hasEngine: false, withdrawalTimeScale: 1 })
    const lines: string[] = []
    const { log } = processState
    processState.log = createLog('info', { write: (line) => void lines.push(line) })
    onTestFinished(() => void Object.assign(processState, { log, isStopping: undefined }))
    works.steps.mockImplementationOnce(async () => {
      processState.isStopping = true
      throw new Error(message)
    })
    await startTimer()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(works.steps).toHaveBeenCalledTimes(1)
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(said)
  },
)
