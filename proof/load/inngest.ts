import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, type TestContext, test } from 'vitest'
import { planWithdrawal } from '@/domain/withdrawal/schedule'
import { answer } from '@/testing/application'
import type { Instance } from '@/testing/instance'
import { LATER_STEPS } from '@/testing/later-steps'
import { givenPlainPerson, withdraw } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'
import { EngineNetwork, InngestServer, type Mode, startRedis } from './inngest-server'

const MAX_LATE_MS = 2_000
/** A machine that is busy for a while may need another try. */
const MEASUREMENTS = 3
/** Sleeps of an engine end early now and then: so many make it all but certain. */
const PEOPLE = 4

/** The last step is due after 8.6 s, or after 4.3 s. */
const SLOW = 0.0001
const FAST = 0.00005

/** The engine's cron functions never arrive at the service (EngineNetwork); this switches off the sweep inside it. */
const NO_SWEEP = { NODE_OPTIONS: `--import=${path.resolve('proof/load/no-sweep.mjs')}` }

interface Site {
  world: World
  instance: Instance
  engine: InngestServer
  network: EngineNetwork
  timeScale: number
}

interface Options {
  mode: Mode
  timeScale: number
  settings?: Record<string, string>
  redisUrl?: string
}

/** A service and an engine that knows its functions, unless the key with which the engine signs is another. */
async function givenSite(test: TestContext, options: Options, signingKey?: string): Promise<Site> {
  const { mode, timeScale, settings, redisUrl } = options
  const scale = { WITHDRAWAL_TIME_SCALE: String(timeScale), WITHDRAWAL_RETENTION: 'P300D' }
  const world = await givenWorld(test, scale)
  const network = await EngineNetwork.open()
  const engine = await InngestServer.prepare(mode, network)
  engine.redisUrl = redisUrl
  test.onTestFinished(async () => {
    await engine.end('SIGKILL')
    network.close()
  })
  const instance = await world.start({ ...engine.settings, ...settings })
  network.serviceUrl = instance.url
  await engine.start(signingKey)
  if (!signingKey) await untilSynced(network, 0)
  return { world, instance, engine, network, timeScale }
}

/** The service has registered its functions with the engine, after so many calls. */
const untilSynced = (network: EngineNetwork, after: number) =>
  until('the engine knows the functions', () => network.calls.slice(after).includes('PUT 200'), 30_000)

async function withdrawPeople({ world, instance }: Site): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < PEOPLE; count++) {
    const { status, body } = await withdraw(instance, await givenPlainPerson(world))
    expect(status).toBe(202)
    ids.push(body.data.withdrawal_id)
  }
  return ids
}

const untilCompleted = ({ world, engine }: Site, ids: string[]) =>
  until(
    'the withdrawals are completed',
    async () => {
      const open = await world.query('SELECT FROM withdrawals WHERE id = ANY($1) AND completed_at IS NULL', [ids])
      return open.length === 0
    },
    40_000,
  ).catch(async (error) => {
    const steps = await world.query('SELECT step, due_at FROM deletion_steps WHERE due_at IS NOT NULL')
    throw new Error(`${error.message}: ${JSON.stringify(steps)}\n${engine.output.slice(-2_000)}`)
  })

/** How many milliseconds after its due time each step ended, the greatest last. */
async function lateness({ world, timeScale }: Site, ids: string[]): Promise<number[]> {
  const rows = await world.query<{ step: string; started_at: Date; completed_at: Date }>(
    `SELECT step, started_at, s.completed_at FROM deletion_steps s JOIN withdrawals w ON w.id = s.withdrawal_id
     WHERE w.id = ANY($1) AND step <> 'session_revocation'`,
    [ids],
  )
  expect(rows).toHaveLength(LATER_STEPS.length * ids.length)
  const late = rows.map(({ step, started_at: startedAt, completed_at: completedAt }) => {
    const { steps } = planWithdrawal(startedAt, { timeScale, retentionMs: 0, statutoryPeriod: { months: 1, days: 0 } })
    return completedAt.getTime() - (steps.find((planned) => planned.step === step)?.dueAt.getTime() ?? 0)
  })
  return late.sort((a, b) => a - b)
}

/** `during` comes once the withdrawals have begun. */
async function expectInTime(site: Site, during: () => Promise<unknown> = async () => {}) {
  for (let measurement = 1; ; measurement++) {
    const ids = await withdrawPeople(site)
    await during()
    await untilCompleted(site, ids)
    const late = await lateness(site, ids)
    if (process.env.SHOW) process.stdout.write(`${JSON.stringify(late)}\n`)
    expect(late[0]).toBeGreaterThanOrEqual(0)
    if ((late.at(-1) ?? 0) <= MAX_LATE_MS) return
    if (measurement === MEASUREMENTS) expect(late, 'milliseconds after the due times').toEqual([])
  }
}

test.for(['dev', 'signed'] as const)(
  'the engine alone completes each step within 2 s of its due time in %s mode',
  async (mode, context) => {
    const site = await givenSite(context, { mode, timeScale: SLOW, settings: NO_SWEEP })
    await expectInTime(site)
  },
)

test('an application that accepts its task and reports later ends the step that the engine began', async (context) => {
  const site = await givenSite(context, { mode: 'signed', timeScale: SLOW, settings: NO_SWEEP })
  const { world, instance } = site
  const reports: Promise<number>[] = []
  const shop = await world.givenApplication('shop', (_call, response, request) => {
    answer(response, 202)
    const id = String(request.headers['webhook-id'])
    const { body } = shop.received.findLast((received) => received.id === id) ?? { body: '{}' }
    const { report_to: path, report_token: token } = JSON.parse(body).data.task
    reports.push(report(new URL(new URL(path, instance.url).pathname, instance.url), token))
  })
  const how = ['--audience', 'everyone', '--acknowledges', 'later']
  await world.operator.run('app', 'register', '--name', 'shop', '--endpoint', shop.url, ...how)
  const ids = await withdrawPeople(site)
  await untilCompleted(site, ids)
  expect(await Promise.all(reports)).toEqual(ids.map(() => 200))
  const tasks = await world.query<{ status: string; records: number }>(
    'SELECT status, records, attempts FROM app_notifications WHERE withdrawal_id = ANY($1)',
    [ids],
  )
  expect(tasks).toEqual(ids.map(() => ({ status: 'completed', records: 3, attempts: 1 })))
})

/** As an application that has worked for a while; the status of the last answer. */
async function report(url: URL, token: string): Promise<number> {
  const tell = (body: object) =>
    fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  await sleep(500)
  await tell({ status: 'processing', progress: { done: 1, total: 3 } })
  await sleep(500)
  return (await tell({ status: 'completed', records: 3 })).status
}

const redis = await startRedis()
afterAll(() => redis?.stop())

test.skipIf(!redis)(
  'F16 an engine that is killed continues its runs from Redis and completes each step in time',
  async (context) => {
    const site = await givenSite(context, {
      mode: 'signed',
      timeScale: SLOW,
      settings: NO_SWEEP,
      redisUrl: redis?.url,
    })
    await expectInTime(site, () => killAndRestart(site))
  },
)

test.for(['a directory that it knows', 'an empty directory'])(
  'F16 the sweep completes each step in time when a killed engine restarts in %s without its runs',
  async (directory, context) => {
    const site = await givenSite(context, { mode: 'signed', timeScale: FAST })
    await expectInTime(site, async () => {
      if (directory === 'an empty directory') await site.engine.loseState()
      await killAndRestart(site)
    })
    // The service goes on telling it of withdrawals.
    const before = site.network.calls.length
    await withdrawPeople(site)
    await until('the engine runs functions again', () => site.network.calls.slice(before).includes('POST 206'))
  },
)

/** Once all runs sleep before the last step: a job that an engine is killed with is leased for half a minute. */
async function killAndRestart({ world, engine, network }: Site) {
  await until('all steps but the last have ended', async () => {
    const open = await world.query(`SELECT FROM deletion_steps WHERE due_at IS NOT NULL AND step <> 'data_archives'`)
    return open.length === 0
  })
  await until('the runs sleep', () => network.isQuietFor(1_000))
  await engine.end('SIGKILL')
  const before = network.calls.length
  await engine.start()
  await untilSynced(network, before)
}

test('an engine with another signing key can do no more than an anonymous caller, and the sweep completes each step in time', async (context) => {
  const site = await givenSite(context, { mode: 'signed', timeScale: FAST }, 'ab'.repeat(16))
  const { instance, network } = site
  await until('the engine has called', () => network.calls.length > 0)
  await expectInTime(site)
  for (const call of unsigned(await withdrawPeople(site))) {
    const url = `${instance.url}/api/inngest?fnId=user-account-service-process-withdrawal&stepId=step`
    expect((await fetch(url, call)).status).toBe(401)
  }
  expect([...new Set(network.calls.map((call) => call.split(' ')[1]))]).toEqual(['401'])
  const refusals = instance.output.split('\n').filter((line) => line.includes('engine_call_refused'))
  expect(refusals.length).toBeGreaterThan(0)
  expect(refusals.length).toBeLessThan(network.calls.length + 8)
  // The SDK would have written a stack for each.
  expect(instance.output).not.toMatch(/^\s+at |signature/im)
})

/** What somebody without the key might send to make a step run. */
function unsigned([withdrawalId = '']: string[]): RequestInit[] {
  const event = { id: 'evt', name: 'account/withdrawal.started', ts: 0, data: { withdrawal_id: withdrawalId } }
  const body = JSON.stringify({
    version: 2,
    event,
    events: [event],
    steps: {},
    ctx: { run_id: 'run', attempt: 0, stack: { stack: [], current: 0 } },
  })
  const json = { 'Content-Type': 'application/json' }
  const now = Math.round(Date.now() / 1000)
  return [
    { method: 'POST', body, headers: json },
    { method: 'POST', body, headers: { ...json, 'x-inngest-signature': `t=${now}&s=${'0'.repeat(64)}` } },
    { method: 'POST', body, headers: { ...json, 'x-inngest-server-kind': 'dev', 'x-inngest-signature': '' } },
    { method: 'PUT', body, headers: json },
    { method: 'PUT', body: '' },
    { method: 'GET' },
  ]
}
