import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import type { ReplayReport } from '@/domain/withdrawal/replay-erasure-ledger'
import { Cluster } from '@/testing/cluster'
import type { Instance } from '@/testing/instance'
import { emailStatus, givenPerson, givenPlainPerson, withdraw } from '@/testing/person'
import { FAULTS_DIR } from '@/testing/run-directory'
import { until, withStatus } from '@/testing/until'
import { givenWorld, KEYS, WORLD_SETTINGS, type World } from '@/testing/world'
import { placesOf } from './ending'

// The drill of a restore: whoever left is back in the copy, and must not be served.

/** Copies with owners and times, as a backup does. */
const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

/** Every line of the ledger in its own file, so that whole lines can be dropped and swapped. */
function ledgerFiles(world: World): string[] {
  const folder = path.join(world.dataDir, 'ledger/erasure-ledger')
  const [origin = ''] = readdirSync(folder).filter((name) => /^[0-9a-f]{32}$/.test(name))
  return readdirSync(path.join(folder, origin))
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .map((name) => path.join(folder, origin, name))
}

/** An instance that need not be ready. */
async function startHeld(context: TestContext, world: World, settings: Record<string, string> = {}) {
  const log = path.join(world.dataDir, `held-${world.instances.length}.log`)
  const file = await open(log, 'w')
  context.onTestFinished(() => file.close())
  return world.start(settings, file.fd)
}

const readiness = async ({ url }: Instance) => {
  const response = await fetch(`${url}/api/health/ready`)
  return { status: response.status, body: (await response.json()) as { reason?: string } }
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
  // Not synchronous: the way to the database goes through this process.
  const { exit, stdout, stderr } = await new Promise<{ exit: number; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ exit: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  )
  if (!stdout) throw new Error(stderr)
  return { exit, ...JSON.parse(stdout) }
}

/** What somebody may have done to the files of the ledger; the way back is returned. */
const DAMAGE: Record<string, (files: string[]) => void> = {
  'a line dropped': ([, second = '']) => rmSync(second),
  'two lines swapped': ([, second = '', third = '']) => {
    const lines = [readFileSync(second), readFileSync(third)] as const
    writeFileSync(second, lines[1])
    writeFileSync(third, lines[0])
  },
  'the end truncated': (files) => rmSync(files.at(-1) ?? ''),
  'a line doubled': ([, second = '']) => writeFileSync(second, readFileSync(second, 'utf8').repeat(2)),
  'one byte changed': ([first = '']) =>
    writeFileSync(first, readFileSync(first, 'utf8').replace('"analytics":false', '"analytics":true')),
}

test('F27 F31 a restored database is served only after the replay has withdrawn again everyone whom the backup brought back', {
  timeout: 600_000,
}, async (context) => {
  const cluster = await Cluster.start(context)
  const world = await givenWorld(context, { WITHDRAWAL_RETENTION: 'P30D' }, cluster.place)
  await world.givenApplication('shop')
  let instance = await world.start()
  const person = await givenPerson(world, instance)
  const others = [await givenPlainPerson(world), await givenPlainPerson(world)]
  const stays = await givenPlainPerson(world)
  // Somebody who has left and come back under the same address before the backup.
  const returner = await givenPlainPerson(world)
  const leftFirst = await withdraw(instance, returner)
  expect(leftFirst.status).toBe(202)
  const named = ['--email', returner.email, '--password', returner.password, '--name', 'Ada']
  const { user_id: returned = '' } = await world.operator.run('user', 'create', ...named)
  await until('the first line is stored', () => ledgerFiles(world).length === 1)

  // The backup: database and archives.
  expect(await instance.stop()).toBe(0)
  await cluster.goDown('fast')
  const backup = `${cluster.dataDir}-backup`
  copy(cluster.dataDir, backup)
  copy(path.join(world.dataDir, 'archives'), `${backup}-archives`)
  await cluster.comeUp()

  // Two instances write one ledger, the second with a rotated secret.
  instance = await world.start()
  const second = await world.start({ CODE_SECRET: `code-secret-of-the-second-instance,${KEYS.CODE_SECRET}` })
  const withdrawals: string[] = []
  for (const [index, leaver] of [person, ...others].entries()) {
    const answer = await withdraw(index % 2 === 0 ? instance : second, leaver)
    expect(answer.status).toBe(202)
    withdrawals.push(answer.body.data.withdrawal_id)
    await until('its line is stored', () => ledgerFiles(world).length === index + 2)
  }
  for (const withdrawalId of withdrawals) {
    await until('it is completed', async () => {
      const rows = await world.query('SELECT FROM withdrawals WHERE id = $1 AND completed_at IS NOT NULL', [
        withdrawalId,
      ])
      return rows.length === 1
    })
  }
  expect((await placesOf(world, [person.mark])).filter((place) => place !== 'table withdrawals')).toEqual([])

  // The restore.
  expect([await instance.stop(), await second.stop()]).toEqual([0, 0])
  await cluster.goDown('fast')
  for (const [from, to] of [
    [path.join(backup, 'pg'), path.join(cluster.dataDir, 'pg')],
    [`${backup}-archives`, path.join(world.dataDir, 'archives')],
  ] as const) {
    rmSync(to, { recursive: true })
    copy(from, to)
  }
  await cluster.comeUp()
  const back = await until('the database is there', () => placesOf(world, [person.mark]).catch(() => null))
  expect(back).toEqual(expect.arrayContaining(['table users', 'table profiles', 'table shared_items']))

  const restored = await startHeld(context, world)
  expect(await readiness(restored)).toMatchObject({ status: 503, body: { reason: 'ledger_ahead' } })
  const refused = await emailStatus(restored, person)
  expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVER_002'])
  for (const place of ['/sign-in', '/.well-known/jwks.json', '/receipt']) {
    expect((await fetch(`${restored.url}${place}`)).status).toBe(503)
  }
  expect(await restored.isLive()).toBe(true)

  const secrets = { CODE_SECRET: `code-secret-of-the-second-instance,${KEYS.CODE_SECRET}` }
  const ledger = path.join(world.dataDir, 'ledger')
  copy(ledger, `${ledger}-good`)
  const findings: Record<string, string[]> = {}
  for (const [what, damage] of Object.entries(DAMAGE)) {
    damage(ledgerFiles(world))
    const report = await replay(world, secrets)
    expect([what, report.exit, report.verified]).toEqual([what, 1, false])
    findings[what] = report.problems
    expect(await readiness(restored)).toMatchObject({ status: 503, body: { reason: 'ledger_ahead' } })
    rmSync(ledger, { recursive: true })
    copy(`${ledger}-good`, ledger)
  }
  // Without its secret a line finds nobody, and the command says so.
  const withoutSecret = await replay(world, { CODE_SECRET: 'a-secret-that-wrote-no-line' })
  expect([withoutSecret.exit, withoutSecret.unknown_keys]).toEqual([1, 4])
  expect((await readiness(restored)).status).toBe(503)

  const report = await replay(world, secrets)
  expect(report).toMatchObject({ exit: 0, lines: 4, verified: true, unknown_keys: 0, problems: [] })
  expect(JSON.parse(readFileSync(path.join(ledger, report.evidence), 'utf8'))).toMatchObject({ lines: 4, seq: 4 })
  await until('the instance serves', async () => withStatus(200, await readiness(restored)))

  for (const withdrawalId of withdrawals) {
    await until('it is completed again', async () => {
      const rows = await world.query('SELECT FROM withdrawals WHERE id = $1 AND completed_at IS NOT NULL', [
        withdrawalId,
      ])
      return rows.length === 1
    })
  }
  rmSync(`${ledger}-good`, { recursive: true })
  const left = await placesOf(world, [person.mark, person.token])
  expect(left.filter((place) => place !== 'table withdrawals')).toEqual([])
  expect(
    await world.query('SELECT FROM users WHERE id = ANY($1)', [[person.id, ...others.map(({ id }) => id)]]),
  ).toEqual([])
  // Who did not leave, and who came back, are untouched.
  expect(
    await world.query('SELECT FROM users WHERE id = ANY($1) AND withdrawn_at IS NULL', [[stays.id, returned]]),
  ).toHaveLength(2)
  const evidence = { at: new Date().toISOString(), back, findings, withoutSecret, report, left }
  writeFileSync(path.join(FAULTS_DIR, 'restore-evidence.json'), `${JSON.stringify(evidence, null, 2)}\n`)
})

test('with ACCEPT_OLD_DATABASE=1 a restored database is served as it is', async (context) => {
  const cluster = await Cluster.start(context)
  const world = await givenWorld(context, {}, cluster.place)
  let instance = await world.start()
  const person = await givenPlainPerson(world)
  await instance.stop()
  await cluster.goDown('fast')
  const backup = `${cluster.dataDir}-backup`
  copy(cluster.dataDir, backup)
  await cluster.comeUp()
  instance = await world.start()
  expect((await withdraw(instance, person)).status).toBe(202)
  await until('its line is stored', () => ledgerFiles(world).length === 1)
  await instance.stop()
  await cluster.goDown('fast')
  rmSync(path.join(cluster.dataDir, 'pg'), { recursive: true })
  copy(path.join(backup, 'pg'), path.join(cluster.dataDir, 'pg'))
  await cluster.comeUp()
  const held = await startHeld(context, world)
  expect((await readiness(held)).status).toBe(503)
  await held.stop()
  const served = await world.start({ ACCEPT_OLD_DATABASE: '1' })
  expect((await readiness(served)).status).toBe(200)
  expect((await emailStatus(served, person)).status).toBe(200)
})
