import path from 'node:path'
import { afterAll, expect, type TestContext, test } from 'vitest'
import { planWithdrawal } from '@/domain/withdrawal/schedule'
import { startWithdrawal } from '@/testing/completed-withdrawal'
import type { Instance } from '@/testing/instance'
import { LATER_STEPS } from '@/testing/later-steps'
import { givenPlainPerson } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'
import { EngineNetwork, InngestServer, startRedis } from './inngest-server'

/** A sleep of an engine ends early now and then, so that this many make it almost certain. */
const PEOPLE = 4

/** The last step is due after 8.6 s, or after 4.3 s. */
const SLOW = 0.0001
const FAST = 0.00005

/** The engine's cron functions never arrive at the service (EngineNetwork); this switches off the sweep inside it. */
const NO_SWEEP = { NODE_OPTIONS: `--import=${path.resolve('proof/service/no-sweep.ts')}` }

interface Site {
  world: World
  instance: Instance
  engine: InngestServer
  network: EngineNetwork
  timeScale: number
}

interface Options {
  timeScale: number
  settings?: Record<string, string>
  redisUrl?: string
}

/** A service and an engine that knows its functions. */
async function givenSite(test: TestContext, options: Options): Promise<Site> {
  const { timeScale, settings, redisUrl } = options
  const scale = { WITHDRAWAL_TIME_SCALE: String(timeScale), WITHDRAWAL_RETENTION: 'P300D' }
  const world = await givenWorld(test, scale)
  const network = await EngineNetwork.open()
  const engine = await InngestServer.prepare(network)
  engine.redisUrl = redisUrl
  test.onTestFinished(async () => {
    await engine.end('SIGKILL')
    network.close()
  })
  const instance = await world.start({ ...engine.settings, ...settings })
  network.serviceUrl = instance.url
  await engine.start()
  await untilSynced(network, 0)
  return { world, instance, engine, network, timeScale }
}

/** Waits until the service has registered its functions with the engine, after this number of calls. */
const untilSynced = (network: EngineNetwork, after: number) =>
  until('the engine knows the functions', () => network.calls.slice(after).includes('PUT 200'), 30_000)

async function withdrawPeople({ world, instance }: Site): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < PEOPLE; count++) {
    const { withdrawalId } = await startWithdrawal(instance, await givenPlainPerson(world))
    ids.push(withdrawalId)
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

/** How many milliseconds after its due time each step ended. */
async function lateness({ world, timeScale }: Site, ids: string[]): Promise<number[]> {
  const rows = await world.query<{ step: string; started_at: Date; completed_at: Date }>(
    `SELECT step, started_at, s.completed_at FROM deletion_steps s JOIN withdrawals w ON w.id = s.withdrawal_id
     WHERE w.id = ANY($1) AND step <> 'session_revocation'`,
    [ids],
  )
  expect(rows).toHaveLength(LATER_STEPS.length * ids.length)
  return rows.map(({ step, started_at: startedAt, completed_at: completedAt }) => {
    const settings = { timeScale, limits: { withdrawalRetentionMs: 0 }, statutoryPeriod: { months: 1, days: 0 } }
    const { steps } = planWithdrawal(settings, startedAt)
    return completedAt.getTime() - (steps.find((planned) => planned.step === step)?.dueAt.getTime() ?? 0)
  })
}

/** Runs `during` once the withdrawals have begun. How late they end is not judged: that is the machine's. */
async function expectCompleted(site: Site, during: () => Promise<unknown> = async () => {}) {
  const ids = await withdrawPeople(site)
  await during()
  await untilCompleted(site, ids)
  expect(Math.min(...(await lateness(site, ids)))).toBeGreaterThanOrEqual(0)
}

test('the engine alone completes each step, and none before its due time', async (context) => {
  const site = await givenSite(context, { timeScale: SLOW, settings: NO_SWEEP })
  await expectCompleted(site)
})

const redis = await startRedis()
afterAll(() => redis?.stop())

test.skipIf(!redis)(
  'F16 an engine that is killed continues its runs from Redis and completes each step',
  async (context) => {
    const site = await givenSite(context, {
      timeScale: SLOW,
      settings: NO_SWEEP,
      redisUrl: redis?.url,
    })
    await expectCompleted(site, () => killAndRestart(site))
  },
)

test('F16 the sweep completes each step when a killed engine restarts without its runs', async (context) => {
  const site = await givenSite(context, { timeScale: FAST })
  await expectCompleted(site, async () => {
    await site.engine.loseState()
    await killAndRestart(site)
  })
  // The service goes on telling it of withdrawals.
  const before = site.network.calls.length
  await withdrawPeople(site)
  await until('the engine runs functions again', () => site.network.calls.slice(before).includes('POST 206'))
})

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
