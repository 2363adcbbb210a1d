import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import { openDatabase } from '@/server/adapters/database'
import { answer } from '@/testing/application'
import { Cluster } from '@/testing/cluster'
import {
  expectPurged,
  expectUnavailable,
  type StartedWithdrawal,
  startWithdrawal,
} from '@/testing/completed-withdrawal'
import type { Answer } from '@/testing/instance'
import { changeEmail, emailStatus, givenPerson, givenPlainPerson, withdraw, withdrawalStatus } from '@/testing/person'
import { rawSql } from '@/testing/raw-sql'
import { TcpProxy } from '@/testing/tcp-proxy'
import { until, withStatus } from '@/testing/until'
import { givenWorld, holdLock, isBlocked, type World } from '@/testing/world'

test.for([
  ['restart', 'fast'],
  ['kill', 'killed'],
] as const)(
  'F5 a %s of PostgreSQL during withdrawals causes 503 at once, and the service heals by itself without loss',
  async ([_what, how], context) => {
    const cluster = await Cluster.start(context)
    const world = await givenWorld(context, {}, cluster.place)
    const areAccepted = Promise.withResolvers<void>()
    let down: Promise<void> | undefined
    await world.givenApplication('shop', async (_call, response) => {
      await areAccepted.promise
      // The database is away when the first answer of the application arrives, so nothing records it.
      down ??= cluster.goDown(how)
      await down
      answer(response, 204)
    })
    await world.givenApplication('games')
    const instance = await world.start()
    const waiting = await givenPerson(world, instance)
    const people = []
    for (let count = 0; count < 4; count++) people.push(await givenPerson(world, instance))
    const withdrawals = await Promise.all(people.map((person) => startWithdrawal(instance, person)))
    areAccepted.resolve()

    await until('PostgreSQL goes down', () => down !== undefined)
    await down
    const [first] = withdrawals as [StartedWithdrawal, ...StartedWithdrawal[]]
    const refusals: Answer[] = []
    for (let round = 0; round < 3; round++) {
      refusals.push(
        ...(await Promise.all([
          emailStatus(instance, waiting),
          withdraw(instance, waiting),
          withdrawalStatus(instance, first.person, first.withdrawalId),
        ])),
      )
    }
    for (const refusal of refusals) expectUnavailable(refusal)

    await cluster.comeUp()
    const healed = await until(
      'the API heals',
      async () => {
        const again = await withdraw(instance, waiting)
        return again.status === 503 ? null : again
      },
      10_000,
    )
    expect(healed.status).toBe(202)
    expect(instance.isRunning).toBe(true)
    withdrawals.push({ person: waiting, withdrawalId: healed.body.data.withdrawal_id })
    await Promise.all(withdrawals.map((withdrawal) => expectPurged(world, withdrawal)))
  },
)

test('F8 reads go on while the database takes no writes, writes are answered with 503, and the service heals', async (context) => {
  const world = await givenWorld(context)
  const instance = await world.start()
  const person = await givenPlainPerson(world)
  const name = new URL(world.databaseUrl).pathname.slice(1)
  const set = async (readOnly: 'on' | 'off') => {
    await world.query(
      `BEGIN READ WRITE; ALTER DATABASE ${name} SET default_transaction_read_only = ${readOnly}; COMMIT`,
    )
    await world.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  }
  await set('on')
  await until('reads go on', async () => withStatus(200, await emailStatus(instance, person)))
  for (const refused of [await changeEmail(instance, person), await withdraw(instance, person)]) {
    expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVER_002'])
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  }
  await set('off')
  await until('writes go on', async () => withStatus(200, await changeEmail(instance, person)))
})

test('F7 a long row lock costs its own user a 503 and nobody else anything', async (context) => {
  const world = await givenWorld(context)
  const instance = await world.start()
  const locked = await givenPerson(world, instance)
  const other = await givenPerson(world, instance)
  const release = await holdLock(world, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [locked.id])
  const refused = withdraw(instance, locked)
  await until('the call waits', () => isBlocked(world, 'withdrawn_at IS NULL FOR UPDATE'))
  const accepted = await withdraw(instance, other)
  expect(accepted.status).toBe(202)
  expect(accepted.ms).toBeLessThan(2_000)
  expectUnavailable(await refused)
  await release()
  await expectPurged(world, await startWithdrawal(instance, locked))
})

/** A network in front of the database whose connections can fall silent, as behind a firewall that dropped their state. */
async function givenNetwork(context: TestContext, world: World) {
  const network = new TcpProxy(Number(new URL(world.databaseUrl).port))
  await network.open()
  context.onTestFinished(() => network.shut())
  return { network, databaseUrl: Object.assign(new URL(world.databaseUrl), { port: String(network.port) }).href }
}

test('F6 silent connections cost a 503 to the calls that wait on them and delay nobody else', async (context) => {
  const world = await givenWorld(context)
  const { network, databaseUrl } = await givenNetwork(context, world)
  // The limit is above the number of silent connections. If every connection were silent, every call would wait for the timeout.
  const settings = { DATABASE_URL: databaseUrl, DATABASE_CONNECTIONS: '24' }
  const instance = await world.start(settings)
  const person = await givenPerson(world, instance)
  expect((await emailStatus(instance, person)).status).toBe(200)
  const silenced = network.silence()
  expect(silenced).toBeGreaterThan(0)
  const reads: Promise<Answer>[] = []
  for (const start = Date.now(); Date.now() - start < 3_000; await sleep(50)) reads.push(emailStatus(instance, person))
  const answers = await Promise.all(reads)
  const refused = answers.filter(({ status }) => status !== 200)
  for (const answer of refused) expectUnavailable(answer)
  expect(refused.length).toBeGreaterThan(0)
  // Two statements run at a time, each for 100 ms, and a read begins every 50 ms.
  expect(refused.length).toBeLessThanOrEqual(3 * silenced)
  expect(Math.max(...answers.filter(({ status }) => status === 200).map(({ ms }) => ms))).toBeLessThan(2_000)
  expect(answers.at(-1)?.status).toBe(200)
})

test('F6 a transaction on a silent connection ends within five seconds, and the next one works', async (context) => {
  const world = await givenWorld(context)
  const { network, databaseUrl } = await givenNetwork(context, world)
  const database = openDatabase(databaseUrl)
  const transact = () => database.transact((sql) => rawSql(sql, 'SELECT 1 AS one'))
  await transact()
  expect(network.silence()).toBe(1)
  const startedAt = Date.now()
  await expect(transact()).rejects.toThrow('Query read timeout')
  expect(Date.now() - startedAt).toBeLessThan(5_000)
  expect(await transact()).toEqual([{ one: 1 }])
  await database.close()
})
