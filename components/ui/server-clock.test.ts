import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fetchOnServerClock } from './server-clock'

vi.mock('./service-away')

let signal: AbortSignal | null | undefined
const answers = (answer: () => Promise<Response>) =>
  vi.stubGlobal('fetch', (_input: unknown, init: RequestInit) => {
    signal = init.signal
    return answer()
  })

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a read whose answer does not begin ends after fifteen seconds', async () => {
  answers(() => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))))
  const read = expect(fetchOnServerClock('/api/v1/status')).rejects.toThrow('aborted')
  await vi.advanceTimersByTimeAsync(15_000)
  await read
})

test('what a read brings may take longer, and a change may take its time from the start', async () => {
  answers(async () => new Response('{}'))
  await fetchOnServerClock('/api/v1/users/usr_1/export')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(signal?.aborted).toBe(false)
  answers(() => new Promise(() => {}))
  void fetchOnServerClock('/api/v1/users/usr_1/withdraw', { method: 'POST' })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(signal?.aborted).toBe(false)
})
