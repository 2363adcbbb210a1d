import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, expect, test, vi } from 'vitest'
import { testContext } from '@/domain/testing'
import { openDatabase } from './db'
import { createHealth, live, ready } from './health'

const NOWHERE = '127.0.0.1:9'
const LOCAL = { smtpUrl: undefined, engine: false, engineUrl: undefined }
const shared = globalThis as { __accountContext?: unknown; __accountHealth?: unknown }
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  shared.__accountHealth = undefined
  vi.restoreAllMocks()
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function listening(server: Server | TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function givenDatabaseAway() {
  const { sql, close } = openDatabase(`postgresql://user:secret@${NOWHERE}/accounts`)
  cleanUps.push(close)
  return { sql }
}

test('with everything there the service is ready, and says what each part is', async () => {
  const ctx = await testContext()
  expect(await createHealth(ctx, LOCAL)()).toEqual({
    ready: true,
    parts: { database: 'ok', mail: 'local', engine: 'timer' },
  })
})

test('without its database the service is alive but not ready, and names the part and nothing else', async () => {
  shared.__accountContext = givenDatabaseAway()
  const [alive, response] = [await live(), await ready()]
  expect([alive.status, response.status]).toEqual([200, 503])
  for (const { headers } of [alive, response]) expect(headers.get('Cache-Control')).toBe('no-store')
  expect(await response.json()).toEqual({
    status: 'not_ready',
    database: 'away',
    mail: expect.any(String),
    engine: expect.any(String),
  })
})

test('the mail server is greeted, and no more often than every 30 seconds while it answers', async () => {
  let greeted = 0
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, callback) {
      greeted++
      callback()
    },
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => new Promise<void>((resolve) => smtp.close(() => resolve())))
  const smtpUrl = `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`
  const health = createHealth(await testContext(), { ...LOCAL, smtpUrl })
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const greetings: number[] = []
  for (const at of [0, 29_999, 30_000]) {
    now.mockReturnValue(at)
    expect((await health()).parts.mail).toBe('ok')
    greetings.push(greeted)
  }
  expect(greetings).toEqual([1, 1, 2])
})

test('a mail server that is away or stalls makes the service not ready, within two seconds', async () => {
  const silent = await listening(createTcpServer())
  for (const host of [NOWHERE, silent]) {
    const startedAt = performance.now()
    const health = await createHealth(await testContext(), { ...LOCAL, smtpUrl: `smtp://${host}` })()
    expect(health).toMatchObject({ ready: false, parts: { database: 'ok', mail: 'away' } })
    expect(performance.now() - startedAt).toBeLessThan(2_500)
  }
})

test('the engine is reachable or unknown; callers are not turned away for it', async () => {
  const engine = await listening(createServer((_request, response) => response.writeHead(404).end()))
  const ctx = await testContext()
  for (const [engineUrl, expected] of [
    [`http://${engine}`, 'reachable'],
    [`http://${NOWHERE}`, 'unknown'],
    [undefined, 'unknown'],
  ] as const) {
    const { ready, parts } = await createHealth(ctx, { ...LOCAL, engine: true, engineUrl })()
    expect([ready, parts.engine]).toEqual([true, expected])
  }
})
