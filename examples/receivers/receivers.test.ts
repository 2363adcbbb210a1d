import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkReceiver } from '@/cli/app-check'
import { freePort, listening } from '@/testing/listening'
import { webhookSignature } from '@/testing/webhook'

const SECRET = 'whsec_bmV3IHNlY3JldA=='
const PERSON = { subject: 'customer 7', account: 'usr_of_a_test_person' }
const directory = mkdtempSync(join(tmpdir(), 'receivers-'))
const compiled = join(directory, 'receiver')
afterAll(() => rmSync(directory, { recursive: true }))

// Go compiles its own library first, which takes longer than all else here, so that only the laboratory does it.
const LANGUAGES = process.env.RECEIVER_LANGUAGES ?? 'Python'

const RECEIVERS = [
  {
    language: 'Python',
    folder: 'examples/receivers/python',
    version: ['python3', '--version'],
    unit: ['python3', '-m', 'unittest'],
    command: ['python3', 'examples/receivers/python/example.py'],
  },
  {
    language: 'Go',
    folder: 'examples/receivers/go',
    version: ['go', 'version'],
    build: ['go', 'build', '-o', compiled, './example'],
    unit: ['go', 'test', './...'],
    command: [compiled],
  },
].filter(
  ({ language, version: [program = '', ...args] }) =>
    LANGUAGES.includes(language) && spawnSync(program, args).status === 0,
)

describe.each(RECEIVERS)('the receiver in $language', ({ folder, build, unit, command }) => {
  const reports: { bearer: string | undefined; said: object }[] = []
  let service: Server
  let receiver: ChildProcess
  let endpoint: string
  let reportTo: string
  let isAway = false
  let isOver = false
  let missed = 0

  beforeAll(async () => {
    service = createServer(async (request, response) => {
      const said = (await json(request)) as object
      if (isAway) missed++
      else reports.push({ bearer: request.headers.authorization, said })
      response.writeHead(isAway ? 503 : isOver ? 409 : 200)
      response.end(isOver ? JSON.stringify({ success: false, error: { code: 'TASK_002' } }) : undefined)
    })
    reportTo = `http://127.0.0.1:${await listening(service)}/api/v1/tasks/msg_1`
    const PORT = String(await freePort())
    endpoint = `http://127.0.0.1:${PORT}/account-messages`
    if (build) execFileSync(build[0] as string, build.slice(1), { cwd: folder })
    const env = { ...process.env, PORT, SIGNING_SECRET: `whsec_b2xkIHNlY3JldA== ${SECRET}`, ACCOUNTS: PERSON.account }
    receiver = spawn(command[0] as string, command.slice(1), { env, stdio: 'ignore' })
    await vi.waitFor(() => fetch(endpoint, { method: 'POST' }), { timeout: 20_000, interval: 50 })
  }, 120_000)

  afterAll(async () => {
    receiver.kill()
    service.close()
    await once(receiver, 'exit')
  })

  async function send(id: string, type = 'account.withdrawn') {
    const task = { id, due_by: '2026-11-21T09:00:00.000Z', report_to: reportTo, report_token: `dtk_${id}` }
    const body = JSON.stringify({ type, timestamp: 't', data: { subject: 'customer 42', account: 'usr_1', task } })
    const at = String(Math.floor(Date.now() / 1000))
    const signature = webhookSignature(SECRET, id, at, body)
    const headers = { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature }
    return (await fetch(endpoint, { method: 'POST', headers, body })).status
  }
  const reportsOn = (id: string) =>
    reports.filter(({ bearer }) => bearer === `Bearer dtk_${id}`).map(({ said }) => said)

  test('passes the tests of its package', () => {
    const { status, stdout, stderr } = spawnSync(unit[0] as string, unit.slice(1), { cwd: folder, encoding: 'utf8' })
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' })
  })

  test('passes every call of app check', async () => {
    const appUrl = new URL(reportTo).origin
    const calls = await checkReceiver({ url: endpoint, secret: SECRET, appUrl, checks: false, person: PERSON })
    expect(calls.filter(({ result }) => result === 'FAIL')).toEqual([])
  })

  test('accepts a deletion task, reports its progress and its end, and does it again when it comes again', async () => {
    const run = [
      { status: 'processing', progress: { done: 1, total: 3 } },
      { status: 'processing', progress: { done: 2, total: 3 } },
      { status: 'processing', progress: { done: 3, total: 3 } },
      { status: 'completed', records: 3 },
    ]
    expect(await send('msg_1')).toBe(202)
    await expect.poll(() => reportsOn('msg_1')).toEqual(run)
    await expect.poll(() => send('msg_1').then(() => reportsOn('msg_1').length)).toBeGreaterThan(run.length)
  })

  test('answers an event that it does not know, and begins a deletion anew whose reports were missed', async () => {
    expect(await send('dlv_1', 'account.invented')).toBe(200)
    isAway = true
    expect(await send('msg_2')).toBe(202)
    await expect.poll(() => missed).toBeGreaterThan(0)
    isAway = false
    await expect
      .poll(() => send('msg_2').then(() => reportsOn('msg_2').at(-1)))
      .toEqual({ status: 'completed', records: 3 })
  })

  test('deletes all the same when somebody has waived the task', async () => {
    isOver = true
    expect(await send('msg_3')).toBe(202)
    await expect.poll(() => reportsOn('msg_3').at(-1)).toEqual({ status: 'completed', records: 3 })
  })
})
