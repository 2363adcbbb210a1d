import { execFile } from 'node:child_process'
import { openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, type TestContext, test } from 'vitest'
import { Cluster } from '@/testing/cluster'
import type { Instance } from '@/testing/instance'
import { emailStatus, givenPlainPerson, type Person, withdraw } from '@/testing/person'
import { expectGoodTrace } from '@/testing/traces'
import { until } from '@/testing/until'
import { givenWorld, WORLD_SETTINGS, type World } from '@/testing/world'

// A primary, and a replica that lags: it has what the primary had when it was copied, and takes over on a timeline of its own.

async function givenReplica(context: TestContext, settings: Record<string, string> = {}) {
  const cluster = await Cluster.start(context)
  const world = await givenWorld(context, settings, cluster.place)
  const [leaver, stays] = [await givenPlainPerson(world), await givenPlainPerson(world)]
  const takeOver = await cluster.keepReplica()
  return { cluster, world, leaver, stays, takeOver }
}

const reasonOf = async ({ url }: Instance): Promise<string> => {
  const response = await fetch(`${url}/api/health/ready`)
  const { reason = 'ready' } = (await response.json()) as { reason?: string }
  return reason
}

/** Every answer that the person's token gets, until the returned function is called. */
function askAlways(instances: Instance[], person: Person): () => Promise<number[]> {
  let isOver = false
  const asking = instances.map(async (instance) => {
    const statuses: number[] = []
    while (!isOver) statuses.push((await emailStatus(instance, person)).status)
    return statuses
  })
  return async () => {
    isOver = true
    return (await Promise.all(asking)).flat()
  }
}

/** By a process of its own, because the test's operator has lost its connections. */
const replay = async ({ dataDir, databaseUrl }: World): Promise<object> => {
  const env = { ...process.env, ...WORLD_SETTINGS, DATA_DIR: dataDir, DATABASE_URL: databaseUrl }
  const args = ['scripts/account.mjs', 'ledger', 'replay']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return JSON.parse(stdout)
}

const lines = (world: World): string[] => {
  const folder = path.join(world.dataDir, 'ledger/erasure-ledger')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\d{12}\.ndjson$/.test(name))
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').trimEnd().split('\n'))
}

test('F43 a withdrawal that a lagging replica does not know holds again without a restart, and its token is never served', async (context) => {
  const { cluster, world, leaver, stays, takeOver } = await givenReplica(context)
  const instances = [await world.start(), await world.start()]
  const [instance] = instances as [Instance]
  const { status, body } = await withdraw(instance, leaver)
  expect(status).toBe(202)

  const stopAsking = askAlways(instances, leaver)
  await takeOver()
  expect(await world.query('SELECT FROM users WHERE id = $1 AND withdrawn_at IS NULL', [leaver.id])).toHaveLength(1)
  for (const one of instances) {
    await until('its people are served', async () => (await emailStatus(one, stays)).status === 200)
  }
  expect((await stopAsking()).filter((status) => status !== 401 && status !== 503)).toEqual([])
  for (const one of instances) {
    expect((await emailStatus(one, leaver)).status).toBe(401)
    await until('it is ready', async () => (await reasonOf(one)) === 'ready')
  }
  expect(instances.map(({ output }) => output).join('')).toContain('"event":"database_had_lost_withdrawals"')
  expect(await world.query('SELECT id FROM withdrawals')).toEqual([{ id: body.data.withdrawal_id }])
  const receipts = await instance.call({
    path: `/api/v1/withdrawals/${body.data.withdrawal_id}/receipts`,
    token: body.data.status_token,
    scope: 'account:manage',
  })
  expect(receipts.body.data.receipts[0]).toMatchObject({ kind: 'acceptance' })
  expect(lines(world)).toHaveLength(1)

  // The same database again proves by itself that it has lost nothing.
  const ledger = path.join(world.dataDir, 'ledger')
  renameSync(ledger, `${ledger}-away`)
  writeFileSync(ledger, '')
  await cluster.goDown('killed')
  await cluster.comeUp()
  await until('its people are served', async () => (await emailStatus(instance, stays)).status === 200)
  expect(await reasonOf(instance)).toBe('ready')
  rmSync(ledger)
  renameSync(`${ledger}-away`, ledger)
  expect(await expectGoodTrace(world, ['account.withdrawn'])).toBe(1)
})

test('F43 a database that is too far behind, or whose ledger is away, is held until the operator has replayed', async (context) => {
  const { world, leaver, stays, takeOver } = await givenReplica(context, { LEDGER_REPLAY_MAX: '0' })
  const instance = await world.start()
  expect((await withdraw(instance, leaver)).status).toBe(202)
  const ledger = path.join(world.dataDir, 'ledger')
  renameSync(ledger, `${ledger}-away`)
  writeFileSync(ledger, '')
  const stopAsking = askAlways([instance], leaver)
  await takeOver()
  await until('it is held', async () => (await reasonOf(instance)) === 'ledger_away')
  rmSync(ledger)
  renameSync(`${ledger}-away`, ledger)
  await until('it is held', async () => (await reasonOf(instance)) === 'ledger_ahead')
  expect((await emailStatus(instance, stays)).status).toBe(503)
  expect(await replay(world)).toMatchObject({ verified: true, replayed: 1 })
  await until('its people are served', async () => (await emailStatus(instance, stays)).status === 200)
  expect((await stopAsking()).filter((status) => status !== 401 && status !== 503)).toEqual([])

  // Another directory at a start is the wrong store.
  renameSync(ledger, `${ledger}-away`)
  const other = await world.start({}, openSync('/dev/null', 'w'))
  await until('it is held', async () => (await reasonOf(other)) === 'ledger_missing')
  renameSync(`${ledger}-away`, ledger)
  await until('it serves', async () => (await emailStatus(other, stays)).status === 200)
})
