import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import type { ReplayReport } from '@/domain/withdrawal/replay-erasure-ledger'
import { Cluster } from '@/testing/cluster'
import { placesOf, startWithdrawal } from '@/testing/completed-withdrawal'
import type { Instance } from '@/testing/instance'
import { createAccount } from '@/testing/operator'
import { emailStatus, givenPerson, givenPlainPerson, type Person } from '@/testing/person'
import { ledgerLinesOf } from '@/testing/traces'
import { until, withStatus } from '@/testing/until'
import { givenWorld, KEYS, WORLD_SETTINGS, type World } from '@/testing/world'

// The restored copy has people who were withdrawn after the backup. The service must not serve them.

/** Copies with owners and times, as a backup does. */
const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

/** An instance that need not be ready. */
async function startHeld(context: TestContext, world: World, settings: Record<string, string> = {}) {
  const log = path.join(world.dataDir, `held-${world.instances.length}.log`)
  const file = await open(log, 'w')
  context.onTestFinished(() => file.close())
  return Object.assign(await world.start(settings, { stdout: file.fd }), { log })
}

/** The exit code and the report, as an operator gets them. */
async function replay(world: World, settings: Record<string, string> = {}): Promise<ReplayReport & { exit: number }> {
  const env = {
    ...process.env,
    ...WORLD_SETTINGS,
    DATA_DIR: world.dataDir,
    DATABASE_URL: world.databaseUrl,
    ...settings,
  }
  const args = ['scripts/account.mjs', 'ledger', 'replay']
  // Not synchronous, because this process forwards the connections to the database.
  const { exit, stdout, stderr } = await new Promise<{ exit: number; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ exit: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  )
  if (!stdout) throw new Error(stderr)
  return { exit, ...JSON.parse(stdout) }
}

/** Database and archives as they are now, while nothing runs; `restore` puts them back. */
async function takeBackup(world: World, cluster: Cluster) {
  const backup = `${cluster.dataDir}-backup`
  const folders: [string, string][] = [
    [path.join(cluster.dataDir, 'pg'), `${backup}-pg`],
    [path.join(world.dataDir, 'archives'), `${backup}-archives`],
  ]
  const places = folders.filter(([place]) => existsSync(place))
  await cluster.goDown('fast')
  for (const [place, kept] of places) copy(place, kept)
  await cluster.comeUp()
  return async () => {
    await cluster.goDown('fast')
    for (const [place, kept] of places) {
      rmSync(place, { recursive: true })
      copy(kept, place)
    }
    await cluster.comeUp()
  }
}

/** Withdraws these people, each at one of the instances in turn, until the ledger has their lines and all is completed. */
async function withdrawAll(world: World, instances: Instance[], people: Person[]): Promise<string[]> {
  const before = ledgerLinesOf(world).length
  const ids: string[] = []
  for (const [index, person] of people.entries()) {
    const { withdrawalId } = await startWithdrawal(instances[index % instances.length] as Instance, person)
    ids.push(withdrawalId)
    await until('its line is stored', () => ledgerLinesOf(world).length === before + index + 1)
  }
  await untilCompleted(world, ids)
  return ids
}

const untilCompleted = (world: World, ids: string[]) =>
  until('the withdrawals are completed', async () => {
    const text = 'SELECT FROM withdrawals WHERE id = ANY($1) AND completed_at IS NOT NULL'
    return (await world.query(text, [ids])).length === ids.length
  })

const idsOf = (people: Person[]) => people.map(({ id }) => id)

test('F27 F31 a restored database is served only after the replay has withdrawn again everyone whom the backup brought back', {
  timeout: 600_000,
}, async (context) => {
  const cluster = await Cluster.start(context)
  const world = await givenWorld(context, { WITHDRAWAL_RETENTION: 'P30D', LEDGER_REPLAY_MAX: '0' }, cluster.place)
  await world.givenApplication('shop')
  const first = await world.start()
  const person = await givenPerson(world, first)
  const withdrawn = [person, await givenPlainPerson(world), await givenPlainPerson(world)]
  const stays = await givenPlainPerson(world)
  // A person who was withdrawn and signed up again with the same address before the backup.
  const returner = await givenPlainPerson(world)
  await startWithdrawal(first, returner)
  const returned = await createAccount(world.operator, { ...returner, name: 'Ada' })
  await until('the first line is stored', () => ledgerLinesOf(world).length === 1)
  expect(await first.stop()).toBe(0)
  const restore = await takeBackup(world, cluster)

  // Two instances write one ledger, the second with a rotated secret.
  const rotated = { CODE_SECRET: `code-secret-of-the-second-instance,${KEYS.CODE_SECRET}` }
  const instances = [await world.start(), await world.start(rotated)]
  const withdrawals = await withdrawAll(world, instances, withdrawn)
  expect((await placesOf(world, [person.mark])).filter((place) => place !== 'table withdrawals')).toEqual([])
  for (const instance of instances) expect(await instance.stop()).toBe(0)
  await restore()
  const back = await until('the database is there', () => placesOf(world, [person.mark]).catch(() => null))
  expect(back).toEqual(expect.arrayContaining(['table users', 'table profiles', 'table shared_items']))

  const restored = await startHeld(context, world)
  expect(await restored.readiness()).toMatchObject({ status: 503, body: { reason: 'ledger_ahead' } })
  const refused = await emailStatus(restored, person)
  expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVER_002'])
  for (const place of ['/sign-in', '/.well-known/jwks.json', '/receipt']) {
    expect((await fetch(`${restored.url}${place}`)).status).toBe(503)
  }
  expect(await restored.isLive()).toBe(true)
  // What the replay finds in a damaged ledger: domain/withdrawal/ledger/erasure-ledger.test.ts.
  const withoutSecret = await replay(world, { CODE_SECRET: 'a-secret-that-wrote-no-line' })
  expect([withoutSecret.exit, withoutSecret.unknown_keys]).toEqual([1, 4])
  expect((await restored.readiness()).status).toBe(503)

  const report = await replay(world, rotated)
  expect(report).toMatchObject({ exit: 0, lines: 4, verified: true, unknown_keys: 0, problems: [] })
  const evidence = path.join(world.dataDir, 'ledger', report.evidence)
  expect(JSON.parse(readFileSync(evidence, 'utf8'))).toMatchObject({ lines: 4, seq: 4 })
  await until('the instance serves', async () => withStatus(200, await restored.readiness()))
  await untilCompleted(world, withdrawals)
  const left = await placesOf(world, [person.mark, person.token])
  expect(left.filter((place) => place !== 'table withdrawals')).toEqual([])
  expect(await world.query('SELECT FROM users WHERE id = ANY($1)', [idsOf(withdrawn)])).toEqual([])
  // The replay leaves the other accounts as they are, among them the one of a person who came back.
  const active = 'SELECT FROM users WHERE id = ANY($1) AND withdrawn_at IS NULL'
  expect(await world.query(active, [[stays.id, returned]])).toHaveLength(2)
})

test('F63 a restored database is served as it is by every instance that accepts this one, and by no other value', async (context) => {
  const cluster = await Cluster.start(context)
  const world = await givenWorld(context, { LEDGER_REPLAY_MAX: '0' }, cluster.place)
  const first = await world.start()
  const person = await givenPlainPerson(world)
  await first.stop()
  const restore = await takeBackup(world, cluster)
  const instance = await world.start()
  await withdrawAll(world, [instance], [person])
  await instance.stop()
  await restore()
  const held = await startHeld(context, world, { ACCEPT_OLD_DATABASE: '1' })
  expect((await held.readiness()).status).toBe(503)
  const [, accepted = ''] = /ACCEPT_OLD_DATABASE=([\w-]+)/.exec(readFileSync(held.log, 'utf8')) ?? []
  await held.stop()
  for (const one of [1, 2].map(() => world.start({ ACCEPT_OLD_DATABASE: accepted }))) {
    const served = await one
    expect((await served.readiness()).status).toBe(200)
    expect((await emailStatus(served, person)).status).toBe(200)
  }
})
