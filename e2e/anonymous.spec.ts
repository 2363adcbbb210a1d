import net from 'node:net'
import type { APIRequestContext } from '@playwright/test'
import { bearer, expect, sendRaw, test, type User } from './fixtures'
import { SERVICE_URL } from './service-urls'

// Requests of strangers: people without an account, or with access to a signed-in browser.

const { host, port } = new URL(SERVICE_URL)

/** The status line of the answer to a path that client libraries would normalise. */
async function answerTo(method: string, path: string): Promise<string | undefined> {
  const answer = await sendRaw(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close`)
  return answer.split('\r\n', 1)[0]
}

/** Signs in as next-auth's client does. */
async function trySignIn(request: APIRequestContext, user: User, password = user.password, form = {}) {
  const { csrfToken } = await (await request.get('/api/auth/csrf')).json()
  return request.post('/api/auth/callback/credentials', {
    form: { csrfToken, email: user.email, password, json: 'true', ...form },
    maxRedirects: 0,
  })
}

test('no path, method or parameter of an anonymous caller causes a 5xx', async ({ request }) => {
  for (const path of ['/withdrawal/%', '/withdrawal/%E0%A4%A', '/api/auth/%', '/admin/withdrawals/%']) {
    expect({ path, answer: await answerTo('GET', path) }).toEqual({ path, answer: 'HTTP/1.1 400 Bad Request' })
  }
  expect(await answerTo('TRACE', '/api/auth/session')).toBe('HTTP/1.1 405 Method Not Allowed')
  expect(await answerTo('GET', 'ftp://evil.test/sign-in')).toBe('HTTP/1.1 200 OK')
  const callback = await request.get('/api/auth/callback/credentials')
  expect([callback.status(), callback.headers().allow]).toEqual([405, 'POST'])
  for (const query of ['callbackUrl=a&callbackUrl=b', 'callbackUrl=%25', 'callbackUrl=javascript:alert(1)']) {
    const answer = await request.get(`/api/auth/csrf?${query}`)
    expect([answer.status(), answer.headers()['cache-control']]).toEqual([200, 'no-store'])
  }
  const headers = { Cookie: 'next-auth.callback-url=%25%25' }
  expect((await request.get('/settings/email', { headers, maxRedirects: 0 })).status()).toBe(307)
  expect((await request.get('/api/auth/session', { headers })).status()).toBe(200)
})

test('no JSON value of any type causes a 5xx at sign-in or sign-out', async ({ request }) => {
  const { csrfToken } = await (await request.get('/api/auth/csrf')).json()
  for (const value of [{ toString: 1 }, { valueOf: 1 }, [], [[]], 1, null]) {
    for (const path of ['/api/auth/callback/credentials', '/api/auth/signout', '/api/auth/signin/credentials']) {
      for (const name of ['callbackUrl', 'email', 'password', 'csrfToken', 'json', 'redirect']) {
        const data = { csrfToken, email: 'nobody@example.test', password: 'wrong', json: 'true', [name]: value }
        const answer = await request.post(path, { data, maxRedirects: 0 })
        expect({ path, name, value, failed: answer.status() >= 500 }).toEqual({ path, name, value, failed: false })
      }
    }
  }
})

test('an anonymous caller cannot write into the log', async ({ request }) => {
  const answer = await request.post('/api/auth/_log', { data: { level: 'error', code: { event: 'forged' } } })
  expect(answer.status()).toBe(404)
})

test('a limited sign-in is answered with 429 and the time to wait', async ({ request, user }) => {
  expect((await trySignIn(request, user)).headers()).toMatchObject({
    'ratelimit-policy': '"signIn";q=10;w=900',
    ratelimit: '"signIn";r=10;t=0',
  })
  for (let tries = 1; tries <= 10; tries++) {
    const wrong = await trySignIn(request, user, 'wrong')
    expect([wrong.status(), wrong.headers().ratelimit]).toEqual([
      401,
      expect.stringMatching(`^"signIn";r=${10 - tries};`),
    ])
  }
  const limited = await trySignIn(request, user)
  expect(limited.status()).toBe(429)
  const wait = Number(limited.headers()['retry-after'])
  expect(wait).toBeGreaterThan(850)
  expect(wait).toBeLessThanOrEqual(900)
  expect((await limited.json()).url).toContain(`error=RATE_001%3A${wait}`)
  const asForm = await trySignIn(request, user, user.password, { json: 'false' })
  expect([asForm.status(), Number(asForm.headers()['retry-after'])]).toEqual([302, expect.any(Number)])
})

test('a browser that signs in again ends its earlier session', async ({ request, user }) => {
  for (let times = 0; times < 3; times++) expect((await trySignIn(request, user)).status()).toBe(200)
  const { accessToken } = await (await request.get('/api/auth/session')).json()
  const headers = bearer(accessToken, 'tokens:manage')
  const { data } = await (await request.get(`/api/v1/users/${user.id}/sessions`, { headers })).json()
  expect(data.sessions).toHaveLength(1)
})

test('in local mode the service listens on this machine only', async () => {
  const connected = new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), '127.0.0.2', () => resolve(socket.destroy()))
    socket.on('error', reject)
    socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')))
  })
  await expect(connected).rejects.toThrow()
})

test('in local mode a foreign Host header, such as a rebound name, opens neither a page nor the API', async () => {
  for (const foreign of ['evil.test', `evil.test:${port}`, '127.0.0.2', 'localhost.evil.test']) {
    for (const path of ['/', '/dev/mailbox', '/api/auth/session', '/api/health/live', '/no-such-page']) {
      const answer = await sendRaw(`GET ${path} HTTP/1.1\r\nHost: ${foreign}\r\nConnection: close`)
      expect(answer, path).toMatch(/^HTTP\/1\.1 421 /)
      expect(answer, path).toContain('In local mode the service answers under localhost')
    }
    for (const path of ['/api/v1/openapi.json', '/api/v1/users/usr_x/email/status', '/api/v1/nothing']) {
      const answer = await sendRaw(`GET ${path} HTTP/1.1\r\nHost: ${foreign}\r\nConnection: close`)
      expect(answer, path).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer, path).toContain('"code":"REQUEST_001"')
    }
  }
  for (const own of ['localhost', '127.0.0.1', `[::1]:${port}`]) {
    const answer = await sendRaw(`GET /sign-in HTTP/1.1\r\nHost: ${own}\r\nConnection: close`)
    expect(answer, own).toMatch(/^HTTP\/1\.1 200 /)
  }
})
