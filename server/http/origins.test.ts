import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isForPages } from '@/contract/define'
import { operations } from '@/contract/operations'
import { type Caller, call, NOBODYS_IDS, request } from '@/testing/api-calls'
import { givenCaller } from '@/testing/callers'
import { PAGE_ORIGIN, type TestContext, testContext } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { api } from './api'
import { refuse } from './exchange'

let ctx: TestContext
let caller: Caller

beforeAll(async () => {
  ctx = await testContext()
  installContext(ctx)
  caller = await givenCaller(ctx)
})
afterAll(() => ctx.settle())

const send = (path: string, init: RequestInit = {}) =>
  api(new Request(`https://accounts.test${path}`, init), '192.0.2.1')
const fromPage = (path: string, init: RequestInit = {}) => send(path, { ...init, headers: { Origin: PAGE_ORIGIN } })
const preflight = (path: string, origin: string, method = 'POST') =>
  send(path, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization',
    },
  })
const corsOf = ({ headers }: Response) => [...headers.keys()].filter((name) => name.startsWith('access-control-'))
const pathOf = (path: string) =>
  `/api/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => ({ ...NOBODYS_IDS, userId: caller.userId })[name] ?? '')}`

test('the paths that pages may call are those of users, withdrawals and links to the old address', () => {
  const open = operations.filter(({ path }) => isForPages(path)).map(({ path }) => path.split('/')[1])
  expect(new Set(open)).toEqual(new Set(['users', 'withdrawals', 'email-changes']))
})

describe.each(operations.map(({ name, method, path }) => [name, method, path] as const))('%s', (name, method, path) => {
  test(`${isForPages(path) ? 'answers' : 'refuses'} the preflight of an allowed origin`, async () => {
    const answer = await preflight(pathOf(path), PAGE_ORIGIN, method)
    if (!isForPages(path)) {
      expect([answer.status === 204, corsOf(answer)]).toEqual([false, []])
      return
    }
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(Object.fromEntries(answer.headers)).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': PAGE_ORIGIN,
      'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type, X-Required-Scope, Idempotency-Key',
      'access-control-max-age': '600',
    })
    expect(answer.headers.get('Access-Control-Allow-Methods')?.split(', ')).toContain(method)
  })

  test('carries the headers of an allowed origin exactly where pages may call it, also on a refusal', async () => {
    const { headers } = await request(caller, name, { token: 'junk', headers: { Origin: PAGE_ORIGIN } })
    const isOpen = isForPages(path)
    expect(headers.get('Access-Control-Allow-Origin')).toBe(isOpen ? PAGE_ORIGIN : null)
    expect(headers.get('Vary')).toBe(isOpen ? 'Origin' : null)
    expect(headers.get('Access-Control-Expose-Headers')).toBe(
      isOpen ? 'Location, Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate' : null,
    )
    expect(headers.has('Access-Control-Allow-Credentials')).toBe(false)
  })
})

const statusPath = () => `/api/v1/users/${caller.userId}/email/status`

test.each([
  ['success', () => request(caller, 'getEmailStatus', { headers: { Origin: PAGE_ORIGIN } })],
  ['the API description', () => fromPage('/api/v1/openapi.json')],
  ['a method of the description that does not exist', () => fromPage('/api/v1/openapi.json', { method: 'PUT' })],
  ['an unknown path', () => fromPage('/api/v1/users/x/nothing')],
  ['a trailing slash', () => fromPage(`${statusPath()}/`)],
  ['another method', () => fromPage(statusPath(), { method: 'PUT' })],
  ['OPTIONS that is no preflight', () => fromPage(statusPath(), { method: 'OPTIONS' })],
  [
    'a call that is held back',
    async () => {
      const held = new Request(`https://accounts.test${statusPath()}`, { headers: { Origin: PAGE_ORIGIN } })
      return refuse(held, 'SERVER_002')
    },
  ],
])('a page of an allowed origin can read the answer: %s', async (_what, ask) => {
  const { headers } = await ask()
  expect(headers.get('Access-Control-Allow-Origin')).toBe(PAGE_ORIGIN)
  expect(headers.get('Vary')).toBe('Origin')
})

test.each([
  '/api/v1/users',
  '/api/v1/admin/users/x',
  '/api/v1/users/../admin/users/x',
  '/api/v1/users%2fx/email/status',
  '/api/v1//users/x/email/status',
  '/api/v1/Users/x/email/status',
  '/api/v1/tasks/x',
  '/api/v1/password-resets',
  '/api/v1/openapi.jsonx',
  '/api/v1/admin?/users/',
])('no header opens %s, whatever its spelling', async (path) => {
  for (const answer of [await fromPage(path), await preflight(path, PAGE_ORIGIN)]) {
    expect([corsOf(answer), answer.status === 204]).toEqual([[], false])
  }
})

const HOST = new URL(PAGE_ORIGIN).host
test.each([
  '*',
  'null',
  '',
  HOST,
  `http://${HOST}`,
  `${PAGE_ORIGIN}/`,
  `${PAGE_ORIGIN}:443`,
  `${PAGE_ORIGIN}.evil.test`,
  `${PAGE_ORIGIN}@evil.test`,
  `https://evil${HOST}`,
  `https://evil.${HOST}`,
  'https://example.com',
  `${PAGE_ORIGIN}%00`,
  `${PAGE_ORIGIN}, https://evil.test`,
  `${PAGE_ORIGIN} https://evil.test`,
  PAGE_ORIGIN.toUpperCase(),
  'https://appXexample.com',
  'https://accounts.test',
])('L32 the origin "%s" gets no header, and its preflight no 204', async (origin) => {
  for (const answer of [
    await request(caller, 'getEmailStatus', { headers: { Origin: origin } }),
    await preflight(statusPath(), origin, 'GET'),
  ]) {
    expect([corsOf(answer), answer.headers.get('Vary'), answer.status === 204]).toEqual([[], 'Origin', false])
  }
})

test('without allowed origins no page of another origin is answered, and a cookie opens nothing', async () => {
  installContext({ ...ctx, allowedOrigins: [] })
  expect((await preflight(statusPath(), PAGE_ORIGIN, 'GET')).status).toBe(405)
  installContext(ctx)
  const cookies = { Origin: PAGE_ORIGIN, Cookie: `next-auth.session-token=${caller.sessionId}` }
  expect((await call(caller, 'getEmailStatus', { token: null, headers: cookies })).code).toBe('AUTH_001')
})
