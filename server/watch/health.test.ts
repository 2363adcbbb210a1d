import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { requireLedgerStore } from '@/domain/withdrawal/ledger/ledger-before-answer'
import { processState } from '@/server/process-state'
import { testContext, testDatabase } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { listening } from '@/testing/listening'
import { openDatabase } from '../adapters/database'
import { live, ready, stopBeingReady } from './health'
import { createHealth } from './health-checks'

const NOWHERE = '127.0.0.1:9'
const LOCAL = { smtpUrl: undefined, smtpNeedsTls: false, hasEngine: false, engineUrl: undefined }
afterEach(() => {
  processState.health = undefined
  processState.isStopping = undefined
  processState.heldFor = undefined
  vi.restoreAllMocks()
})

async function givenServer(server: Server | TcpServer): Promise<string> {
  const port = await listening(server)
  onTestFinished(() => void server.close())
  return `127.0.0.1:${port}`
}

async function givenDatabaseAway() {
  const { ping, close } = openDatabase(`postgresql://user:secret@${NOWHERE}/accounts`)
  onTestFinished(close)
  return { ...(await testContext()), ping }
}

test('with all parts available the service is ready and reports the state of each, and while the process stops it is not ready', async () => {
  installContext(await testContext())
  const parts = { database: 'ok', mail: 'local', engine: 'timer', ledger: 'ok' }
  const before = await ready()
  expect([before.status, await before.json()]).toEqual([200, { status: 'ready', ...parts }])
  stopBeingReady()
  const after = await ready()
  expect([after.status, await after.json()]).toEqual([503, { status: 'not_ready', reason: 'stopping', ...parts }])
})

test('an instance that waits for the store of its ledger reports the store as away at once', async () => {
  installContext(await testContext())
  processState.heldFor = 'ledger_away'
  const response = await ready()
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ status: 'not_ready', reason: 'ledger_away', ledger: 'away' })
})

test('a database all of whose connections are busy is there, and the service stays ready', async () => {
  const { url } = await testDatabase()
  const { ping, transact, close } = openDatabase(url, 1)
  onTestFinished(close)
  const held = Promise.withResolvers<void>()
  const busy = transact(() => held.promise)
  expect(await createHealth({ ...(await testContext()), ping }, LOCAL)()).toMatchObject({
    reason: undefined,
    parts: { database: 'ok' },
  })
  held.resolve()
  await busy
})

test('without its database the service is alive but not ready, and names the part and nothing else', async () => {
  installContext(await givenDatabaseAway())
  const [alive, response] = [await live(), await ready()]
  expect([alive.status, response.status]).toEqual([200, 503])
  for (const { headers } of [alive, response]) expect(headers.get('Cache-Control')).toBe('no-store')
  expect(await response.json()).toEqual({
    status: 'not_ready',
    reason: 'database_away',
    database: 'away',
    mail: expect.any(String),
    engine: expect.any(String),
    ledger: 'ok',
  })
})

test('the mail server is checked at most every 30 seconds while it answers', async () => {
  let greeted = 0
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, callback) {
      greeted++
      callback()
    },
  })
  onTestFinished(() => new Promise<void>((resolve) => smtp.close(() => resolve())))
  const smtpUrl = `smtp://127.0.0.1:${await listening(smtp.server)}`
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

test('a mail server that is away or stalls is reported as degraded within seconds; the service stays ready', async () => {
  const silent = await givenServer(createTcpServer())
  for (const host of [NOWHERE, silent]) {
    const startedAt = performance.now()
    const health = createHealth(await testContext(), { ...LOCAL, smtpUrl: `smtp://${host}` })
    expect(await health()).toMatchObject({ reason: undefined, parts: { mail: 'away' }, degraded: ['mail'] })
    expect(performance.now() - startedAt).toBeLessThan(6_000)
  }
})

test('an engine that is away is reported as degraded, and one without an address or a key is not; the service stays ready', async () => {
  const engine = await givenServer(createServer((_request, response) => response.writeHead(404).end()))
  const ctx = await testContext()
  for (const [hasEngine, engineUrl, expected, degraded] of [
    [true, `http://${engine}`, 'reachable', []],
    [true, `http://${NOWHERE}`, 'away', ['engine']],
    [true, undefined, 'unknown', []],
    [false, `http://${NOWHERE}`, 'timer', []],
  ] as const) {
    const health = await createHealth(ctx, { ...LOCAL, hasEngine, engineUrl })()
    expect(health).toMatchObject({ reason: undefined, parts: { engine: expected }, degraded })
  }
})

test('a store of the ledger that is away for more than a minute is reported as degraded; the service stays ready', async () => {
  const ctx = await testContext()
  vi.spyOn(ctx.ledger, 'get').mockRejectedValue(new Error('away'))
  const health = createHealth(ctx, LOCAL)
  expect(await health()).toMatchObject({ parts: { ledger: 'ok' }, degraded: [] })
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + 61_000)
  expect(await health()).toMatchObject({ reason: undefined, parts: { ledger: 'away' }, degraded: ['ledger'] })
})

test('a store of the ledger that can be read and takes nothing is reported as degraded, until it takes an object again', async () => {
  const ctx = await testContext()
  const put = vi.spyOn(ctx.ledger, 'put').mockRejectedValue(new Error('read-only'))
  await expect(requireLedgerStore(ctx)).rejects.toMatchObject({ code: 'SERVER_002' })
  const health = createHealth(ctx, LOCAL)
  await health()
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 61_000)
  expect(await health()).toMatchObject({ parts: { ledger: 'away' }, degraded: ['ledger'] })
  put.mockRestore()
  clock.mockReturnValue(now + 63_000)
  expect(await health()).toMatchObject({ parts: { ledger: 'ok' }, degraded: [] })
})
