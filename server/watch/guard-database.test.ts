import { afterEach, expect, test, type TestContext as VitestContext, vi } from 'vitest'
import { createUser } from '@/domain/accounts/user'
import { createProcess } from '@/domain/process'
import type { Sql } from '@/domain/sql'
import { nameOfGap } from '@/domain/withdrawal/ledger/adopt-erasure-ledger'
import { findStandingLine } from '@/domain/withdrawal/receipts/stored-lines'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { Cluster } from '@/testing/cluster'
import { givenUser, type TestContext, testContext, testDatabase } from '@/testing/domain'
import { rawSql, runAt } from '@/testing/raw-sql'
import { until } from '@/testing/until'
import { givenLedger, unmountLedger, withdrawAs } from '@/testing/withdrawals'
import { openDatabase } from '../adapters/database'
import { processState } from '../process-state'
import { LedgerGuard } from './guard-database'

// A cluster is copied and started several times.
vi.setConfig({ testTimeout: 240_000 })

afterEach(() => {
  processState.heldFor = undefined
})

/** A database as a guarded service opens it. */
function guarded(context: VitestContext, settings: ConstructorParameters<typeof LedgerGuard>[0]) {
  const guard = new LedgerGuard(settings)
  const onLoss = vi.fn(() => guard.noteLoss())
  const database = openDatabase(settings.databaseUrl ?? '', 2, { admit: (sql) => guard.admit(sql), onLoss })
  context.onTestFinished(async () => {
    await guard.stop()
    await database.close()
  })
  return { guard, database, onLoss }
}

/** A service on a server of its own, and a copy of that server from before anybody left. */
async function givenServer(context: VitestContext, maxReplayedLines = 100) {
  const cluster = await Cluster.start(context)
  const { databaseUrl } = cluster.place
  const { guard, database } = guarded(context, { databaseUrl, acceptedDatabase: undefined, maxReplayedLines })
  const ctx: TestContext = { ...(await testContext()), ...database }
  const people = await Promise.all(
    ['leaver', 'stays'].map((name) =>
      createUser(ctx, { email: `${name}@example.test`, password: 'correct horse', name, emailVerified: true }),
    ),
  )
  const putCopy = await cluster.keepCopy()
  const [leaver = '', stays = ''] = people
  const isLive = async (id: string) => (await ctx.db.user.findUniqueOrThrow({ where: { id } })).withdrawnAt === null
  return { cluster, ctx, guard, leaver, stays, isLive, putCopy }
}

const withdraw = (ctx: TestContext, userId: string) =>
  withdrawByOperator(ctx, { userId, confirmation: 'DELETE_MY_ACCOUNT' })

/** The log of the server passes every position that the service has seen. */
const writeFurther = (url: string) =>
  runAt(url, 'CREATE TABLE further AS SELECT generate_series(1, 1000)', 'SELECT pg_switch_wal()', 'CHECKPOINT')

/** What takes the place of the server. */
const COPIES: Parameters<Awaited<ReturnType<Cluster['keepCopy']>>>[] = [
  ['backup'],
  ['backup', writeFurther],
  ['replica'],
]

test('F43 F60 a replica that lagged, a base backup, and one that has written further serve nobody before a lost withdrawal holds again', async (context) => {
  const { ctx, guard, leaver, stays, isLive, putCopy } = await givenServer(context)
  expect(await guard.watch(ctx)).toEqual({ served: null })
  const { withdrawal_id: id } = await withdraw(ctx, leaver)
  for (const copy of COPIES) {
    await putCopy(...copy)
    const seen: boolean[] = []
    await until('it serves', async () => {
      const live = await isLive(leaver).catch(() => null)
      if (live !== null) seen.push(live)
      return live !== null
    })
    expect(seen).toEqual([false])
    expect([await isLive(stays), processState.heldFor]).toEqual([true, undefined])
    expect(await findStandingLine(ctx, id)).toBeDefined()
  }
})

test('F60 after a loss the same database is held while the ledger cannot be read, and served once it can', async (context) => {
  const { cluster, ctx, guard, stays, isLive } = await givenServer(context)
  await guard.watch(ctx)
  const { list } = ctx.ledger
  ctx.ledger.list = () => {
    throw new Error('away')
  }
  await cluster.goDown('killed')
  await cluster.comeUp()
  await until('it is held', () =>
    isLive(stays).then(
      () => expect.unreachable(),
      () => processState.heldFor === 'ledger_away',
    ),
  )
  ctx.ledger.list = list
  await until('it serves', () => isLive(stays).catch(() => false))
  expect(processState.heldFor).toBeUndefined()
})

test('F43 a line that reaches the store after the comparison is noticed, and its person withdrawn', async (context) => {
  const { ctx, guard, leaver, stays, isLive, putCopy } = await givenServer(context)
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
  await putCopy('replica')
  // Nothing was promised to the person yet.
  await until('it serves', () => isLive(leaver).catch(() => false))
  arrive()
  await until('the person is withdrawn', async () => !(await isLive(leaver).catch(() => true)))
  await until('it serves', () => processState.heldFor === undefined)
  expect(await isLive(stays)).toBe(true)
  await answered
})

test('F43 F63 a new primary that is too far behind is held until a service starts with the name of its gap, and no other value', async (context) => {
  const { cluster, ctx, guard, leaver, isLive, putCopy } = await givenServer(context, 0)
  await guard.watch(ctx)
  await withdraw(ctx, leaver)
  await putCopy('replica')
  await until('it is held', () =>
    isLive(leaver).then(
      () => expect.unreachable(),
      () => processState.heldFor === 'ledger_ahead',
    ),
  )

  const { databaseUrl } = cluster.place
  const start = async (acceptedDatabase: string) => {
    const { guard, database } = guarded(context, { databaseUrl, acceptedDatabase, maxReplayedLines: 0 })
    const { served } = await guard.watch({ ...ctx, process: createProcess(), ...database })
    return served === null
  }
  const name = await nameOfGap({ ...ctx, ...openedDirectly(context, databaseUrl) })
  expect(name).toMatch(/^[\w-]{12}$/)
  expect([await start('1'), await start('0'), await start(name)]).toEqual([false, false, true])
  // The instances that wait without it serve too.
  await until('it serves the person whom it still has', () => isLive(leaver).catch(() => false))
  expect(await start(name)).toBe(true)
})

function openedDirectly(context: VitestContext, databaseUrl: string) {
  const database = openDatabase(databaseUrl, 1)
  context.onTestFinished(() => database.close())
  return database
}

/** A guarded service on the database of this file, whose ledger begins anew, with one line in it. */
async function givenGuarded(context: VitestContext) {
  const { url } = await testDatabase()
  const open = await givenLedger()
  const { guard, database, onLoss } = guarded(context, {
    databaseUrl: url,
    acceptedDatabase: undefined,
    maxReplayedLines: 100,
  })
  const ctx: TestContext = { ...open, ...database }
  await guard.watch(ctx)
  const before = await open.db.erasureLedgerHead.findFirstOrThrow()
  const user = await givenUser(open)
  const backup = await open.db.user.findUniqueOrThrow({ where: { id: user.userId } })
  const { withdrawal_id: id } = await withdraw(ctx, user.userId)
  await ctx.settle()
  /** As a restored snapshot does, without cutting a connection. */
  const putBack = async () => {
    await open.db.withdrawal.delete({ where: { id } })
    await open.db.outboxEvent.deleteMany()
    await open.db.user.update({ where: { id: user.userId }, data: backup })
    await open.db.erasureLedgerHead.updateMany({ data: before })
  }
  const isLive = async () => (await open.db.user.findUniqueOrThrow({ where: { id: user.userId } })).withdrawnAt === null
  return { ctx, open, guard, onLoss, putBack, isLive, id, url }
}

test('F60 a database that was switched without cutting a connection is noticed by the check, and its new connections at once', async (context) => {
  const { ctx, open, guard, putBack, isLive } = await givenGuarded(context)
  await guard.admit(open.sql)
  await putBack()
  expect(await isLive()).toBe(true)
  await expect(guard.admit(open.sql)).rejects.toMatchObject({ code: '57P03' })
  await until('the person is withdrawn again', async () => !(await isLive()))
  await until('it serves', () => processState.heldFor === undefined)
  await putBack()
  await until('the check has noticed it', async () => !(await isLive()))
  await until('it serves', () => processState.heldFor === undefined)
  await guard.admit(open.sql)
  expect(ctx.process.ledger.seen?.seq).toBe(1)
})

test('F60 a database with another chain than the one that was seen is not served, whatever the store says', async (context) => {
  const { open, guard } = await givenGuarded(context)
  const { origin } = await open.db.erasureLedgerHead.findFirstOrThrow()
  // A database of another service: it fits its own ledger, which is empty.
  const strange = { origin: 'another', seq: 0, hash: '', batchSeq: 0 }
  const own = await open.db.erasureLedgerHead.findFirstOrThrow()
  await open.db.erasureLedgerHead.updateMany({ data: strange })
  await expect(guard.admit(open.sql)).rejects.toMatchObject({ code: '57P03' })
  expect(processState.heldFor).toBe('ledger_missing')
  await open.db.erasureLedgerHead.updateMany({ data: { ...own, origin } })
  await until('it serves', () => processState.heldFor === undefined)
  await guard.admit(open.sql)
})

test('F60 a snapshot that puts back database and store alike is not served, because a line is gone that was seen', async (context) => {
  const { open, guard, putBack } = await givenGuarded(context)
  const kept = [...open.ledgered]
  await putBack()
  open.ledgered.clear()
  await expect(guard.admit(open.sql)).rejects.toMatchObject({ code: '57P03' })
  expect(processState.heldFor).toBe('ledger_missing')
  for (const [name, content] of kept) open.ledgered.set(name, content)
  await until('it serves', () => processState.heldFor === undefined)
})

test('F63 a lost store is begun anew for all instances by the name of its loss, which accepts no later loss', async (context) => {
  const { ctx, open, guard, url } = await givenGuarded(context)
  open.ledgered.clear()
  await expect(guard.admit((await testDatabase()).open.sql)).resolves.toBeUndefined()
  await until('it is held', () => processState.heldFor === 'ledger_missing')
  const acceptedDatabase = await nameOfGap(open)
  const accepting = guarded(context, { databaseUrl: url, acceptedDatabase, maxReplayedLines: 100 })
  const other = { ...open, process: createProcess(), ...accepting.database }
  expect(await accepting.guard.watch(other)).toEqual({ served: null })
  await until('both serve', () => processState.heldFor === undefined)
  const user = await givenUser(open)
  await until('the instance that ran on writes too', () => withdraw(ctx, user.userId))
  expect([...open.ledgered.keys()].some((name) => name.endsWith('/000000000002.ndjson'))).toBe(true)
  await open.settle()
  const mount = unmountLedger(open)
  await until('both are held', () => processState.heldFor === 'ledger_missing')
  expect(await nameOfGap(open)).not.toBe(acceptedDatabase)
  mount()
  await until('both serve', () => processState.heldFor === undefined)
})

test('F60 what another instance has stored must be in the database too, and a loss costs one comparison', async (context) => {
  const { ctx, open, guard, onLoss, url } = await givenGuarded(context)
  const other = { ...(await testContext()), ledger: open.ledger }
  await withdrawAs(other, await givenUser(other))
  await guard.admit(open.sql)
  expect(ctx.process.ledger.seen?.seq).toBe(2)
  const { list } = ctx.ledger
  const listing = vi.spyOn(ctx.ledger, 'list').mockImplementation(list)
  await Promise.all([guard.admit(open.sql), guard.admit(open.sql)])
  expect(listing).not.toHaveBeenCalled()
  await runAt(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'user-account-service' AND pid <> pg_backend_pid()`,
  )
  await until('the loss is noted', () => onLoss.mock.calls.length > 0)
  // The connections that are asked here were cut too.
  await until('connections are open', () => open.ping().then(() => rawSql(open.sql, 'SELECT')))
  await Promise.all([guard.admit(open.sql), guard.admit(open.sql), guard.admit(open.sql)])
  expect(listing).toHaveBeenCalledTimes(1)
})

test('F43 a connection to another server than the one that was compared is refused', async (context) => {
  const { guard } = await givenGuarded(context)
  const line = { origin: '', seq: 0, hash: '', is_stored: true, has_line: true, is_replica: false }
  const other = (async () => [{ ...line, server: 'another' }]) as unknown as Sql
  await expect(guard.admit(other)).rejects.toMatchObject({ code: '57P03' })
  expect(processState.heldFor).toBeUndefined()
})

test('F44 a store that is unmounted while the service runs or before it starts is noticed, and nothing is served until it is back', async (context) => {
  const { open, url } = await givenGuarded(context)
  const mount = unmountLedger(open)
  await until('it is held', () => processState.heldFor === 'ledger_missing')
  const { guard, database } = guarded(context, { databaseUrl: url, acceptedDatabase: undefined, maxReplayedLines: 100 })
  const { served } = await guard.watch({ ...open, process: createProcess(), ...database })
  expect(served).not.toBeNull()
  mount()
  await served
  await until('it serves', () => processState.heldFor === undefined)
})
