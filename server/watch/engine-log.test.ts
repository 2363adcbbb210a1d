import { Inngest } from 'inngest'
import { serve } from 'inngest/edge'
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { inngest } from '@/server/adapters/inngest-client'
import { processState } from '@/server/process-state'
import { engineLog } from './engine-log'
import { createLog } from './log'

const lines: Record<string, unknown>[] = []
const consoles: MockInstance[] = []
const SECRET = 'erika@example.test'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true })
  lines.length = 0
  processState.log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  consoles.length = 0
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) consoles.push(vi.spyOn(console, method))
})
afterEach(() => {
  // The events of this test are no longer counted.
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const consoleCalls = () => consoles.flatMap(({ mock }) => mock.calls)
const said = () => lines.map(({ level, event, repeated }) => [level, event, repeated])

/** The SDK's handler as in production: it accepts only signed calls. */
function givenEndpoint(): (call: RequestInit) => Promise<Response> {
  const client = new Inngest({
    id: 'user-account-service',
    isDev: false,
    signingKey: `signkey-test-${'ab'.repeat(32)}`,
    logger: inngest.logger,
  })
  const handle = serve({ client, functions: [], enableUnauthedSync: false })
  return ({ headers, ...call }) =>
    handle(
      new Request(`http://localhost/api/inngest?fnId=x&stepId=${SECRET}`, {
        ...call,
        headers: { Host: 'localhost', ...headers },
      }),
    )
}

test("the engine's client logs through our logger", () => {
  expect(inngest.logger).toBe(engineLog)
})

test('repeated unsigned calls write one line at once and one with their number, without stack or payload', async () => {
  const call = givenEndpoint()
  const body = JSON.stringify({ event: { data: SECRET } })
  const signed = { 'x-inngest-signature': `t=1&s=${SECRET}` }
  const calls = [
    { method: 'POST', body },
    { method: 'POST', body, headers: signed },
    { method: 'PUT', body },
    { method: 'GET' },
  ]
  for (let rounds = 0; rounds < 5; rounds++) {
    for (const each of calls) expect((await call(each)).status).toBe(401)
  }
  expect(said()).toEqual([['warn', 'engine_call_refused', undefined]])
  vi.advanceTimersByTime(10_000)
  expect(said()).toEqual([
    ['warn', 'engine_call_refused', undefined],
    ['warn', 'engine_call_refused', 19],
  ])
  expect(Object.keys(lines[0] ?? {}).sort()).toEqual(['event', 'kind', 'level', 'time'])
  expect(JSON.stringify(lines)).not.toMatch(/example|signature| at /i)
  expect(consoleCalls()).toEqual([])
  await call({ method: 'GET' })
  expect(said()).toHaveLength(3)
})

test('the level and error kind of an SDK message are logged, and none of its text', () => {
  engineLog.error({ err: Object.assign(new TypeError(SECRET), { code: 'E_CODE' }), payload: SECRET }, SECRET)
  engineLog.warn(SECRET, { payload: SECRET })
  engineLog.info({ step: SECRET }, 'Inngest step error')
  engineLog.debug('below the level of the log')
  expect(lines.map(({ time: _, ...rest }) => rest)).toEqual([
    { level: 'error', event: 'engine_sdk', kind: 'TypeError', code: 'E_CODE' },
    { level: 'warn', event: 'engine_sdk' },
    { level: 'info', event: 'engine_step_failed' },
  ])
  expect(consoleCalls()).toEqual([])
})
