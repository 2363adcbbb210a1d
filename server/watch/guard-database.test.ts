import { afterEach, expect, test } from 'vitest'
import { createUser } from '@/domain/accounts/user'
import type { Sql } from '@/domain/sql'
import { findStandingLine } from '@/domain/withdrawal/receipts/stored-lines'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { Cluster } from '@/testing/cluster'
import { type TestContext, testContext, testDatabase, unmountLedger } from '@/testing/domain'
import { until } from '@/testing/until'
import { openDatabase } from '../adapters/database'
import { processState } from '../process-state'
import { LedgerGuard } from './guard-database'

afterEach(() => {
  processState.heldFor = undefined
})

/** A service on a primary, of which a copy can take over on a timeline of its own, as a replica that lagged does. */
async function givenPrimary(test: Parameters<typeof Cluster.start>[0], maxReplayedLines = 100) {
  const cluster = await Cluster.start(test)
  const { databaseUrl } = cluster.place
  const guard = new LedgerGuard({ databaseUrl, acceptedDatabase: undefined, maxReplayedLines })
  const database = openDatabase(databaseUrl, 2, { admit: (sql) => guard.admit(sql) })
  test.onTestFinished(async () => {
    guard.stop()
    await database.close()
  })
  const ctx: TestContext = { ...(await testContext()), ...database }
  const people = await Promise.all(
    ['leaver', 'stays'].map((name) =>
      createUser(ctx, { email: `${name}@example.test`, password: 'correct horse', name, emailVerified: true }),
    ),
  )
  const takeOver = await cluster.keepReplica()
  const [leaver = '', stays = ''] = people
  const isLive = async (id: string) => (await ctx.db.user.findUniqueOrThrow({ where: { id } })).withdrawnAt === null
  return { cluster, ctx, guard, leaver, stays, isLive, takeOver }
}

const withdraw = (ctx: TestContext, userId: string) =>
  withdrawByOperator(ctx, { userId, confirmation: 'DELETE_MY_ACCOUNT' })

test('F43 a new primary that lost a withdrawal serves nobody before it holds again, and a restart of the same database needs no ledger', async (context) => {
  const { cluster, ctx, guard, leaver, stays, isLive, takeOver } = await givenPrimary(context)
  expect(await guard.watch(ctx)).toEqual({ served: null })
  const { withdrawal_id: id } = await withdraw(ctx, leaver)
  await takeOver()
  const seen: boolean[] = []
  await until('it serves', async () => {
    const live = await isLive(leaver).catch(() => null)
    if (live !== null) seen.push(live)
    return live !== null
  })
  expect(seen).toEqual([false])
  expect([await isLive(stays), processState.heldFor]).toEqual([true, undefined])
  expect(await findStandingLine(ctx, id)).toBeDefined()

  ctx.ledger.get = () => Promise.reject(new Error('away'))
  await cluster.goDown('killed')
  await cluster.comeUp()
  await until('it serves', () => isLive(stays).catch(() => false))
  expect(processState.heldFor).toBeUndefined()
})

test('F43 a line that reaches the store after the comparison is noticed, and its person withdrawn', async (context) => {
  const { ctx, guard, leaver, stays, isLive, takeOver } = await givenPrimary(context)
  await guard.watch(ctx)
  const { add } = ctx.ledger
  const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: isOnItsWay, resolve: leave } = Promise.withResolvers<void>()
  ctx.ledger.add = async (name, content) => {
    leave()
    await arrival
    return add.call(ctx.ledger, name, content)
  }
  const answered = withdraw(ctx, leaver).catch(() => {})
  await isOnItsWay
  await takeOver()
  // Nothing was promised to the person yet.
  await until('it serves', () => isLive(leaver).catch(() => false))
  arrive()
  await until('the person is withdrawn', async () => !(await isLive(leaver).catch(() => true)))
  await until('it serves', () => processState.heldFor === undefined)
  expect(await isLive(stays)).toBe(true)
  await answered
})

test('F43 a new primary that is too far behind, or whose ledger cannot be read, is held until a start accepts it', async (context) => {
  const { cluster, ctx, guard, leaver, isLive, takeOver } = await givenPrimary(context, 0)
  await guard.watch(ctx)
  await withdraw(ctx, leaver)
  const { get } = ctx.ledger
  ctx.ledger.get = () => Promise.reject(new Error('away'))
  await takeOver()
  const isHeld = (reason: string) => async () => {
    await isLive(leaver).then(
      () => expect.unreachable(),
      () => {},
    )
    return processState.heldFor === reason
  }
  await until('it is held', isHeld('ledger_away'))
  ctx.ledger.get = get
  await until('it is held', isHeld('ledger_ahead'))

  const { databaseUrl } = cluster.place
  const start = new LedgerGuard({ databaseUrl, acceptsOldDatabase: true, maxReplayedLines: 0 })
  context.onTestFinished(() => start.stop())
  expect(await start.watch(ctx)).toEqual({ served: null })
  await until('it serves the person whom it still has', () => isLive(leaver).catch(() => false))
})

test('F43 a connection to another cluster than the one that was compared is refused', async (context) => {
  const { url } = await testDatabase()
  const guard = new LedgerGuard({ databaseUrl: url, acceptedDatabase: undefined, maxReplayedLines: 100 })
  context.onTestFinished(() => guard.stop())
  const ctx = await testContext()
  await guard.watch(ctx)
  await guard.admit(ctx.sql)
  const other = (async () => [{ cluster: '1', timeline: '00000001', position: '1' }]) as unknown as Sql
  await expect(guard.admit(other)).rejects.toMatchObject({ code: '57P03' })
  expect(processState.heldFor).toBeUndefined()
})

test('F44 a store that is unmounted while the service runs is noticed, and nothing is served until it is back', async (context) => {
  const { ctx, guard, leaver, stays, isLive } = await givenPrimary(context)
  await guard.watch(ctx)
  await withdraw(ctx, leaver)
  const mount = unmountLedger(ctx)
  await until('it is held', () => processState.heldFor === 'ledger_missing')
  mount()
  await until('it serves', () => processState.heldFor === undefined)
  expect(await isLive(stays)).toBe(true)
})
