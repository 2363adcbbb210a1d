import { readFile } from 'node:fs/promises'
import net from 'node:net'
import type { APIRequestContext } from '@playwright/test'
import type { Scope } from '@/contract/define'
import { listening } from '@/testing/listening'
import { createAccount, createToken, type Operator } from '@/testing/operator'
import { bearer, expect, linkIn, requestChange, scan, sendRaw, signIn, test, type User } from './fixtures'
import { SERVICE_URL } from './service-urls'

// Bugs of other projects (docs/guarantees.md) that need a browser or real HTTP. Each title begins with the id of its row.

const VERIFY = 'Verify Your New Email Address'

const bearerOf = async (operator: Operator, user: User, scope: Scope = 'email:manage') =>
  bearer(await createToken(operator, user.id), scope)

const statusOf = async (request: APIRequestContext, user: User, headers: Record<string, string>) =>
  (await (await request.get(`/api/v1/users/${user.id}/email/status`, { headers })).json()).data

test('B11 a scanner that opens the link and presses every button verifies nothing, and the owner still can', async ({
  browser,
  request,
  page,
  signedInUser: user,
  inbox,
  operator,
}) => {
  const newEmail = await requestChange(page, user)
  const link = linkIn(await inbox.latest(newEmail, VERIFY), '/verify-email')
  await scan(browser, link, 'Sign in to verify your address')
  const headers = await bearerOf(operator, user)
  expect(await statusOf(request, user, headers)).toMatchObject({
    current_email: user.email,
    pending_change: { has_pending: true, attempts_remaining: 5 },
  })
  await page.goto(link)
  await page.getByRole('button', { name: 'Verify my new address' }).click()
  await inbox.latest(newEmail, 'Email Address Changed')
  expect(await statusOf(request, user, headers)).toMatchObject({ current_email: newEmail })
})

test('B19 B37 forged Host and forwarding headers reach no link, redirect or message', async ({
  request,
  operator,
  user,
  inbox,
}) => {
  const forged = {
    'X-Forwarded-Host': 'evil.test',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': '203.0.113.9',
    'X-Real-IP': '203.0.113.9',
    'X-Account-Client-IP': '203.0.113.9',
    Forwarded: 'for=203.0.113.9;host=evil.test;proto=https',
  }
  const newEmail = `new-${user.email}`
  const headers = { ...forged, ...(await bearerOf(operator, user)) }
  const data = { new_email: newEmail, current_password: user.password }
  expect((await request.post(`/api/v1/users/${user.id}/email/change`, { headers, data })).status()).toBe(200)
  const mail = await inbox.latest(newEmail, VERIFY)
  expect(linkIn(mail, '/verify-email').startsWith(`${SERVICE_URL}/verify-email#`)).toBe(true)
  const notice = await inbox.latest(user.email, 'Email change requested')
  for (const { html, text } of [mail, notice]) expect(html + text).not.toMatch(/evil\.test|203\.0\.113\.9/)
  expect(notice.text).toMatch(/127\.0\.0\.1|::1/)

  for (const path of [
    '/',
    '/settings/email',
    '/api/auth/signin',
    '/api/auth/signout',
    '/api/auth/providers',
    '/api/auth/error',
  ]) {
    const answer = await request.get(`${path}?callbackUrl=https://evil.test/`, { headers: forged, maxRedirects: 0 })
    expect([path, answer.headers().location ?? '']).toEqual([path, expect.not.stringContaining('//evil.test')])
    const body = (await answer.text()).replaceAll(/callbackUrl=[^"&]*/g, '')
    expect([path, body]).toEqual([path, expect.not.stringContaining('evil.test')])
  }
})

/** Paths and headers of the framework that could bypass a check. */
const DETOURS: [string, Record<string, string>][] = [
  ['', { 'x-middleware-subrequest': 'middleware:middleware:middleware:middleware:middleware' }],
  ['', { 'x-middleware-subrequest': 'src/middleware' }],
  ['', { 'x-middleware-rewrite': '/settings/email', 'x-invoke-path': '/settings/email', 'x-matched-path': '/' }],
  ['', { RSC: '1' }],
  ['', { RSC: '1', 'Next-Router-Prefetch': '1' }],
  ['', { RSC: '1', 'Next-Router-Prefetch': '1', 'Next-Router-Segment-Prefetch': '/_tree' }],
  ['', { 'x-nextjs-data': '1' }],
  ['.rsc', {}],
  ['.segments/_tree.segment.rsc', {}],
  ['?_rsc=1', {}],
  ['?nxtPuserId=x&nxtIpath=x', {}],
  ['/', {}],
  ['/.', {}],
  ['%2f', {}],
]

test('B22 B23 no internal path or header of the framework opens a page that needs a session', async ({
  request,
  page,
  signedInUser: _,
}) => {
  const buildId = await readFile('.next/BUILD_ID', 'utf8')
  const pages = ['/settings/email', '/settings/withdraw', '/settings/access-tokens', '/admin']
  const requests = pages.flatMap((path) => DETOURS.map(([suffix, headers]) => ({ path: path + suffix, headers })))
  for (const path of pages) requests.push({ path: `/_next/data/${buildId}${path}.json`, headers: {} })
  for (const { path, headers } of requests) {
    const answer = await request.get(path, { headers, maxRedirects: 0 })
    const body = await answer.text()
    const opened = /Current password|New token|can’t be undone|Operations<|initialStatus":\{/.test(body)
    expect({ path, headers, opened, failed: answer.status() >= 500 }).toEqual({
      path,
      headers,
      opened: false,
      failed: false,
    })
    const location = answer.headers().location ?? '/sign-in'
    expect({ path, location }).toEqual({
      path,
      location: expect.stringMatching(/^(http:\/\/localhost:\d+)?\/(sign-in|settings|admin)/),
    })
  }
  // Proves that a page with a session has these texts.
  for (const [path, words] of [
    ['/settings/email', 'Current password'],
    ['/settings/withdraw', 'can’t be undone'],
    ['/settings/access-tokens', 'New token'],
  ] as const) {
    expect(await (await page.request.get(path)).text()).toContain(words)
  }
})

test('B23 no request, with or without an upgrade, makes the server call another host', async () => {
  let calls = 0
  const inner = net.createServer((socket) => {
    calls++
    socket.destroy()
  })
  const port = await listening(inner)
  const target = `127.0.0.1:${port}`
  const upgrade =
    'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  for (const head of [
    `GET http://${target}/ HTTP/1.1\r\nHost: ${target}`,
    `GET http://${target}/_next/webpack-hmr HTTP/1.1\r\nHost: localhost`,
    `GET //${target}/ HTTP/1.1\r\nHost: localhost`,
    `GET /_next/image?url=http%3A%2F%2F${target}%2Fx.png&w=64&q=75 HTTP/1.1\r\nHost: localhost`,
    `GET /_next/image?url=%2F%2F${target}%2Fx.png&w=64&q=75 HTTP/1.1\r\nHost: ${target}`,
    `GET /settings/email HTTP/1.1\r\nHost: ${target}\r\nX-Forwarded-Host: ${target}`,
    `POST /settings/email HTTP/1.1\r\nHost: ${target}\r\nOrigin: http://${target}\r\nNext-Action: x\r\nContent-Length: 0`,
    `CONNECT ${target} HTTP/1.1\r\nHost: ${target}`,
  ]) {
    for (const more of ['Connection: close', upgrade]) {
      const answer = await sendRaw(`${head}\r\n${more}`)
      expect([head, answer]).toEqual([head, expect.not.stringMatching(/^HTTP\/1\.1 (101|5)/)])
    }
  }
  await new Promise((resolve) => inner.close(resolve))
  expect(calls).toBe(0)
})

test('B24 malformed action and form bodies break no page', async ({ request }) => {
  const bodies = [
    '',
    '["$K1"]',
    '0:{"a":"$@1"}\n1:"$0"',
    '{"then":"$1:__proto__:then","status":"resolved_model","value":"{\\"then\\":\\"$B1337\\"}"}',
    '["$F1","$Q1","$i1","$o1","$r1","$B1"]',
    '['.repeat(20_000),
    JSON.stringify(Array.from({ length: 2_000 }, (_, n) => `$${n}`)),
    '\0\xff'.repeat(1_000),
  ]
  const types = [
    'text/plain;charset=UTF-8',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/json',
  ]
  for (const path of ['/sign-in', '/settings/email', '/verify-email', '/reset-password']) {
    for (const [n, body] of bodies.entries()) {
      const answers = types.map(async (type) => {
        const form = `--x\r\nContent-Disposition: form-data; name="1_$ACTION_REF_1"\r\n\r\n${body}\r\n--x--\r\n`
        const data = Buffer.from(type.startsWith('multipart') ? form : body, 'latin1')
        // Only some requests name an action, because Next logs each unknown one.
        const action = n === 3 && type.startsWith('text') && { 'Next-Action': '__proto__' }
        const headers = { 'Content-Type': type, Origin: SERVICE_URL, ...action }
        const answer = await request.post(path, { headers, data, maxRedirects: 0 })
        expect(answer.status(), `${path} ${type} ${body.slice(0, 40)}`).toBeLessThan(500)
      })
      // Other requests are still answered.
      const other = request.get('/api/v1/users/usr_x/email/status')
      await Promise.all(answers)
      expect((await other).status()).toBe(401)
    }
  }
})

test('B30 the cookies of a withdrawn account open no page and recreate no account', async ({
  page,
  browser,
  signedInUser: user,
  operator,
}) => {
  const cookies = await page.context().storageState()
  const headers = await bearerOf(operator, user, 'account:manage')
  const data = { confirmation: 'DELETE_MY_ACCOUNT' }
  expect((await page.request.post(`/api/v1/users/${user.id}/withdraw`, { headers, data })).status()).toBe(202)
  const old = await browser.newContext({ storageState: cookies })
  for (let n = 0; n < 20; n++) {
    expect(await (await old.request.get('/api/auth/session')).json()).toEqual({})
    for (const path of ['/settings/email', '/settings/withdraw']) {
      expect((await old.request.get(path)).url()).toContain('/sign-in')
    }
  }
  // The address is free, so no account was created from the cookie.
  const heir = await createAccount(operator, user)
  expect(heir).toMatch(/^usr_/)
  expect(heir).not.toBe(user.id)
  expect(await (await old.request.get('/api/auth/session')).json()).toEqual({})
  await signIn(page, user)
  expect((await (await page.request.get('/api/auth/session')).json()).user.id).toBe(heir)
})
