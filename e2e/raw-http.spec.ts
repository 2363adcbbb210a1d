import { expect, sendRaw, test } from './fixtures'

const STATUS = '/api/v1/users/usr_unknown/email/status'

const send = (requestHead: string) => sendRaw(`${requestHead}\r\nConnection: close`)

const strange: [string, string, number, string][] = [
  ['a malformed Host header', `GET ${STATUS} HTTP/1.1\r\nHost: a b`, 400, 'REQUEST_001'],
  ['no Host header', `GET ${STATUS} HTTP/1.0`, 400, 'REQUEST_001'],
  ['the absolute form of another host', `GET http://evil.test${STATUS} HTTP/1.1\r\nHost: localhost`, 401, 'AUTH_001'],
  ['a bad percent sign', `GET /api/v1/users/%zz/email/status HTTP/1.1\r\nHost: localhost`, 404, 'REQUEST_005'],
  ['a rare method', `PROPFIND ${STATUS} HTTP/1.1\r\nHost: localhost`, 405, 'REQUEST_004'],
  ['TRACE', `TRACE ${STATUS} HTTP/1.1\r\nHost: localhost`, 405, 'REQUEST_004'],
  ['a trailing slash', `GET ${STATUS}/ HTTP/1.1\r\nHost: localhost`, 404, 'REQUEST_005'],
]

for (const [what, head, status, code] of strange) {
  test(`a request with ${what} gets the envelope`, async () => {
    const answer = await send(head)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toContain('application/json; charset=utf-8')
    expect(answer).toContain(`"code":"${code}"`)
  })
}

const outsideTheApi: [string, string][] = [
  ['/api/health/live', 'GET, HEAD'],
  ['/api/health/ready', 'GET, HEAD'],
  ['/api/metrics', 'GET, HEAD'],
  ['/api/auth/session', 'GET, HEAD, POST'],
  ['/api/inngest', 'GET, HEAD, POST, PUT'],
]

test('a 405 outside the API names the allowed methods too', async () => {
  for (const [path, allowed] of outsideTheApi) {
    const answer = await send(`DELETE ${path} HTTP/1.1\r\nHost: localhost`)
    expect(answer, path).toMatch(/^HTTP\/1.1 405 /)
    expect(/^allow: (.*)\r$/im.exec(answer)?.[1], path).toBe(allowed)
  }
})

test('no path is redirected to another host or another protocol', async () => {
  expect(await send('GET //evil.test/ HTTP/1.1\r\nHost: localhost')).toMatch(/^HTTP\/1.1 404 /)
  expect(await send('GET http://evil.test//x HTTP/1.1\r\nHost: localhost')).not.toMatch(/location:/i)
  expect(await send('GET /sign-in HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket')).toMatch(/^HTTP\/1.1 200 /)
})

for (const path of ['/api/auth/callback/credentials', '/api/inngest']) {
  test(`a body that is too large for ${path}, or of unknown length, is not read`, async () => {
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded`
    expect(await send(`${head}\r\nContent-Length: 5000000`)).toMatch(/^HTTP\/1.1 413 /)
    expect(await send(`${head}\r\nTransfer-Encoding: chunked`)).toMatch(/^HTTP\/1.1 413 /)
  })
}

test('a sign-in body that claims to be JSON and is not is refused as malformed', async ({ request }) => {
  const headers = { 'Content-Type': 'application/json' }
  expect((await request.post('/api/auth/callback/credentials', { headers, data: Buffer.from('{') })).status()).toBe(400)
})
