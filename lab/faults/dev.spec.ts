import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { freePort } from '@/testing/listening'
import { sendHead } from '@/testing/raw-http'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'

/** The answer to a head that no client library would send; null if nothing listens. */
const answerTo = (port: number, head: string, address?: string): Promise<string | null> =>
  sendHead(port, `${head}\r\nConnection: close`, address).catch(() => null)

test('the server of npm run dev listens on the loopback only and refuses a foreign Host header', async (context) => {
  const { databaseUrl, dataDir } = await givenWorld(context)
  const port = await freePort()
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, ['scripts/dev-server.ts'], {
    env: { PATH, NODE_ENV: 'development', PORT: String(port), DATABASE_URL: databaseUrl, DATA_DIR: dataDir },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  context.onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const own = await until(
    'a page is answered',
    () => answerTo(port, 'GET /sign-in HTTP/1.1\r\nHost: localhost'),
    120_000,
  )
  expect(own).toMatch(/^HTTP\/1\.1 200 /)
  expect(await answerTo(port, 'GET /dev/mailbox HTTP/1.1\r\nHost: evil.test')).toMatch(/^HTTP\/1\.1 421 /)
  const api = await answerTo(port, 'GET /api/v1/users/usr_x/email/status HTTP/1.1\r\nHost: evil.test')
  expect(api).toMatch(/^HTTP\/1\.1 400 /)
  expect(api).toContain('"code":"REQUEST_001","message":"Invalid request"')
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  expect(await answerTo(port, `GET /_next/hmr HTTP/1.1\r\nHost: evil.test\r\n${upgrade}`)).toBe('')
  expect(await answerTo(port, 'GET /sign-in HTTP/1.1\r\nHost: localhost', '127.0.0.2')).toBeNull()
})
