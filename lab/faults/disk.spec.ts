import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { Cluster } from '@/testing/cluster'
import { expectPurged, expectUnavailable, placesOf, startWithdrawal } from '@/testing/completed-withdrawal'
import { changeEmail, emailStatus, givenPerson, givenPlainPerson, withdraw } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, isMarked, type World } from '@/testing/world'
import { canLimitFiles, Disk, limitFiles } from './disk'

const MEGABYTES = 192

test('F20 a full disk of PostgreSQL causes 503 and no partial write, and the service heals without repair when there is room again', async (context) => {
  const { world, cluster, disk } = await givenDiskOfItsOwn(context)
  await world.givenApplication('shop')
  const instance = await world.start()
  const withdrawing = await givenPerson(world, instance)
  const changing = await givenPlainPerson(world)
  const withdrawal = await startWithdrawal(instance, withdrawing)
  // The first rows of these tables have filled no page yet whose free room a refused statement could use.
  await world.query('VACUUM FULL')

  disk.fill()
  const rows = () =>
    world.query<{ requests: number; withdrawals: number }>(
      'SELECT (SELECT count(*)::int FROM email_change_requests) AS requests, (SELECT count(*)::int FROM withdrawals) AS withdrawals',
    )
  const before = await rows()
  let refusals = 0
  for (let tries = 0; tries < 3; tries++) {
    const answer = await changeEmail(instance, changing)
    if (answer.status === 200) continue
    expectUnavailable(answer, 6_000)
    refusals++
  }
  expect(refusals).toBeGreaterThan(0)
  const [now] = await rows()
  expect(now?.requests).toBe((before[0]?.requests ?? 0) + 3 - refusals)

  // The log of changes needs a new file now, for which there is no room: the server panics.
  const write = `SELECT pg_switch_wal(), pg_logical_emit_message(true, 'faults', 'x')`
  await until('the server has gone down', async () => {
    await world.query(write).catch(() => {})
    return !cluster.pid
  })
  expectUnavailable(await changeEmail(instance, changing), 6_000)
  expect(instance.isRunning).toBe(true)

  disk.free()
  await cluster.goDown('fast')
  await cluster.comeUp()
  const healed = await until('the API heals', async () => {
    const answer = await withdraw(instance, changing)
    return answer.status === 503 ? null : answer
  })
  expect(healed.status).toBe(202)
  await expectPurged(world, withdrawal)
})

test('F20 F42 a full data directory refuses mail and withdrawals whole, with LEDGER_BEFORE_ANSWER=0 mail alone, and the erasure ledger is complete afterwards', async (context) => {
  if (!canLimitFiles()) return didNotRun(context, 'prlimit is missing')
  const world = await givenWorld(context, { SMTP_URL: '' })
  await world.givenApplication('shop')
  const instance = await world.start({ LEDGER_BEFORE_ANSWER: '0' })
  const careful = await world.start()
  const first = await givenPerson(world, instance)
  const second = await givenPerson(world, instance)
  const changing = await givenPlainPerson(world)
  const [{ origin = '' } = {}] = await world.query<{ origin: string }>('SELECT origin FROM erasure_ledger')
  const batch = (seq: number) =>
    path.join(world.dataDir, 'ledger/erasure-ledger', origin, `${String(seq).padStart(12, '0')}.ndjson`)
  const one = await startWithdrawal(instance, first)
  const size = await until('the ledger has its first line', async () => (await stat(batch(1))).size)

  // The limit leaves room for half a line.
  limitFiles(instance.pid, size - 20)
  limitFiles(careful.pid, size - 20)
  expectUnavailable(await withdraw(careful, second), 6_000)
  expect((await emailStatus(careful, second)).status).toBe(200)
  await careful.kill()
  const refused = await changeEmail(instance, changing)
  expect([refused.status, refused.body.error.code]).toEqual([503, 'EMAIL_009'])
  expect(await placesOf(world, [changing.newEmail])).toEqual([])
  const two = await startWithdrawal(instance, second)
  await until('the archive step of the first is done', () => isMarked(world, one.withdrawalId, 'completed_at'))
  expect(await world.query('SELECT first_seq FROM erasure_ledger_batches')).toEqual([{ first_seq: 2 }])

  limitFiles(instance.pid, null)
  expect((await changeEmail(instance, changing)).status).toBe(200)
  await until(
    'the ledger has caught up',
    async () => (await world.query('SELECT FROM erasure_ledger_batches')).length === 0,
  )
  expect((await readdir(path.dirname(batch(1)))).filter((name) => name.endsWith('.part'))).toEqual([])
  const texts = await Promise.all([1, 2].map((seq) => readFile(batch(seq), 'utf8')))
  const whole = texts.map((text) => JSON.parse(text).withdrawalId)
  expect(whole).toEqual([one.withdrawalId, two.withdrawalId])
  expect(await world.operator.run('ledger', 'replay')).toMatchObject({ verified: true, replayed: 0, already_gone: 2 })
  for (const withdrawal of [one, two]) await expectPurged(world, withdrawal)
})

async function givenDiskOfItsOwn(context: TestContext) {
  let disk: Disk | null = null
  const cluster = await Cluster.start(context, {
    prepare(directory) {
      disk = Disk.mount(context, directory, MEGABYTES)
      if (!disk) didNotRun(context, 'this account may not mount a volume')
    },
  })
  // Without room the server cannot be stopped in an orderly way.
  context.onTestFinished(() => disk?.free())
  const world = await givenWorld(context, {}, cluster.place)
  await endAfterCrash(world)
  return { world, cluster, disk: disk as unknown as Disk }
}

/**
 * Otherwise PostgreSQL recovers inside the same server, and 18.4 can overlook that this failed for want of room: it then stays up, and
 * refuses everybody as "not yet accepting connections" until it is stopped.
 */
async function endAfterCrash(world: World) {
  await world.query('ALTER SYSTEM SET restart_after_crash = off')
  await world.query('SELECT pg_reload_conf()')
  await until('the setting has been read', async () => {
    const [row] = await world.query<{ restart_after_crash: string }>('SHOW restart_after_crash')
    return row?.restart_after_crash === 'off'
  })
}

function didNotRun(context: TestContext, why: string): never {
  process.stderr.write(`DID NOT RUN, ${why}: ${context.task.name}\n`)
  return context.skip(why)
}
