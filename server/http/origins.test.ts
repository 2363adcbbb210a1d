import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isForPages } from '@/contract/define'
import { operations } from '@/contract/operations'
import { type Caller, call, givenCaller, NOBODYS_IDS, request } from '@/testing/api-calls'
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
const preflight = (path: string, origin: string, asked = 'POST') =>
  send(path, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': asked,
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

test.each([
  ['success', () => request(caller, 'getEmailStatus', { headers: { Origin: PAGE_ORIGIN } })],
  ['the API description', () => send('/api/v1/openapi.json', { headers: { Origin: PAGE_ORIGIN } })],
  [
    'a method of the description that does not exist',
    () => send('/api/v1/openapi.json', { method: 'PUT', headers: { Origin: PAGE_ORIGIN } }),
  ],
  ['an unknown path', () => send('/api/v1/users/x/nothing', { headers: { Origin: PAGE_ORIGIN } })],
  [
    'a trailing slash',
    () => send(`/api/v1/users/${caller.userId}/email/status/`, { headers: { Origin: PAGE_ORIGIN } }),
  ],
  [
    'another method',
    () => send(`/api/v1/users/${caller.userId}/email/status`, { method: 'PUT', headers: { Origin: PAGE_ORIGIN } }),
  ],
  [
    'OPTIONS that is no preflight',
    () => send(`/api/v1/users/${caller.userId}/email/status`, { method: 'OPTIONS', headers: { Origin: PAGE_ORIGIN } }),
  ],
  [
    'a call that is held back',
    async () =>
      refuse(
        new Request(`https://accounts.test/api/v1/users/${caller.userId}/email/status`, {
          headers: { Origin: PAGE_ORIGIN },
        }),
        'SERVER_002',
      ),
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
  '/api/v1/users/%2e%2e/admin/users/x',
  '/api/v1/users%2fx/email/status',
  '/api/v1//users/x/email/status',
  '/api/v1/Users/x/email/status',
  '/api/v1/tasks/x',
  '/api/v1/password-resets',
  '/api/v1/openapi.json/',
  '/api/v1/openapi.jsonx',
  '/api/v1/admin?/users/',
])('no header opens %s, whatever its spelling', async (path) => {
  for (const answer of [await send(path, { headers: { Origin: PAGE_ORIGIN } }), await preflight(path, PAGE_ORIGIN)]) {
    expect([corsOf(answer), answer.status === 204]).toEqual([[], false])
  }
})

const HOST = new URL(PAGE_ORIGIN).host
test.each([
  '*',
  'null',
  'undefined',
  '',
  'https://',
  HOST,
  `//${HOST}`,
  `http://${HOST}`,
  `${PAGE_ORIGIN}/`,
  `${PAGE_ORIGIN}:443`,
  `${PAGE_ORIGIN}:8443`,
  `${PAGE_ORIGIN}.`,
  `${PAGE_ORIGIN}.evil.test`,
  `${PAGE_ORIGIN}evil.test`,
  `${PAGE_ORIGIN}@evil.test`,
  `https://evil.test@${HOST}`,
  `https://evil${HOST}`,
  `https://evil.${HOST}`,
  `https://evil-${HOST}`,
  'https://example.com',
  'https://com',
  `${PAGE_ORIGIN}?`,
  `${PAGE_ORIGIN}#`,
  `${PAGE_ORIGIN}/settings`,
  `${PAGE_ORIGIN}\\`,
  `${PAGE_ORIGIN}%00`,
  `${PAGE_ORIGIN}, https://evil.test`,
  `https://evil.test, ${PAGE_ORIGIN}`,
  `${PAGE_ORIGIN} https://evil.test`,
  `${PAGE_ORIGIN},${PAGE_ORIGIN}`,
  PAGE_ORIGIN.toUpperCase(),
  'HTTPS://app.example.com',
  'https://App.example.com',
  'https://appXexample.com',
  'https://app.example.co',
  'wss://app.example.com',
  'file://',
  'chrome-extension://app.example.com',
  'https://accounts.test',
  'http://localhost',
])('L32 the origin "%s" gets no header, and its preflight no 204', async (origin) => {
  const path = `/api/v1/users/${caller.userId}/email/status`
  for (const answer of [
    await request(caller, 'getEmailStatus', { headers: { Origin: origin } }),
    await preflight(path, origin, 'GET'),
  ]) {
    expect([corsOf(answer), answer.headers.get('Vary'), answer.status === 204]).toEqual([[], 'Origin', false])
  }
})

test('without allowed origins no page of another origin is answered, and a cookie opens nothing', async () => {
  installContext({ ...ctx, allowedOrigins: [] })
  const path = `/api/v1/users/${caller.userId}/email/status`
  expect((await preflight(path, PAGE_ORIGIN, 'GET')).status).toBe(405)
  installContext(ctx)
  const cookies = { Origin: PAGE_ORIGIN, Cookie: `next-auth.session-token=${caller.sessionId}` }
  expect((await call(caller, 'getEmailStatus', { token: null, headers: cookies })).code).toBe('AUTH_001')
})
