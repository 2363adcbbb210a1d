import { createServer } from 'node:http'
import { afterAll, expect, test, vi } from 'vitest'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { processState } from '@/server/process-state'
import { call } from '@/testing/api-calls'
import { givenCaller } from '@/testing/callers'
import { asUser, runDueWork, testContext } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { listening } from '@/testing/listening'
import { within } from '@/testing/until'
import { startTracing, stopTracing, traced } from './tracing'

const settings = vi.hoisted(() => ({ otlpEndpoint: undefined as string | undefined }))
vi.mock('../settings/env', async (original) => {
  const env = await original<typeof import('../settings/env')>()
  return { ...env, getEnv: () => ({ ...env.getEnv(), ...settings }) }
})

interface Span {
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
  status: { code: number }
}

const received: { path: string | undefined; body: string }[] = []
const collector = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  received.push({ path: request.url, body })
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
})
afterAll(() => collector.close())

test('nothing is loaded or sent where no collector is configured', async () => {
  await startTracing()
  expect(processState.tracing).toBeUndefined()
  expect(await traced('work', {}, async () => 'done')).toBe('done')
})

test('every answer and every deletion step is one span, with ids and codes only', async () => {
  const port = await listening(collector)
  settings.otlpEndpoint = `http://127.0.0.1:${port}/`
  await startTracing()
  const ctx = { ...(await testContext()), traced }
  installContext(ctx)
  const user = await givenCaller(ctx)
  const asking = { query: '?canary=1', ip: '192.0.2.77' }
  await call(user, 'getEmailStatus', { ...asking, headers: { 'X-Request-Id': 'traced-1' } })
  await call(user, 'getEmailStatus', { ...asking, scope: null })
  const input = { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' as const }
  const { withdrawal_id } = await withdrawAccount(await asUser(ctx, user), input)
  await ctx.settle()
  ctx.clock.advance(5 * 60_000)
  await runDueWork(ctx)
  await expect(traced('broken', {}, () => Promise.reject(new Error(user.email)))).rejects.toThrow(user.email)
  await stopTracing()

  expect(received.map(({ path }) => path)).toEqual(['/v1/traces'])
  const text = received.map(({ body }) => body).join()
  const spans: Span[] = JSON.parse(text).resourceSpans[0].scopeSpans[0].spans
  const shown = spans.map(({ name, kind, status, attributes }) => ({
    name,
    kind,
    error: status.code === 2,
    ...Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue])),
  }))
  const answered = { name: 'getEmailStatus', kind: 2, error: false, 'http.request.method': 'GET' }
  expect(shown).toEqual([
    { ...answered, 'http.response.status_code': 200, request_id: 'traced-1' },
    { ...answered, 'http.response.status_code': 403, request_id: expect.any(String), 'error.type': 'AUTH_002' },
    { name: 'deletion_step', kind: 1, error: false, step: 'user_profile', withdrawal_id },
    { name: 'broken', kind: 1, error: true },
  ])
  for (const { startTimeUnixNano, endTimeUnixNano } of spans) {
    expect(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)).toBeLessThan(60_000_000_000n)
  }
  for (const secret of [user.userId, user.email, 'Ada', '192.0.2.77', 'canary', user.token]) {
    expect(text).not.toContain(secret)
  }
})

test('a collector that hangs does not hold up the end of the process', async () => {
  const silent = createServer(() => {})
  settings.otlpEndpoint = `http://127.0.0.1:${await listening(silent)}`
  await startTracing()
  await traced('work', {}, async () => {})
  await within(() => 'the end', stopTracing(), 5_000)
  silent.closeAllConnections()
})
