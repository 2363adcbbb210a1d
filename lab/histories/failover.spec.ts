import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { givenPeople } from '@/testing/people'
import { emailStatus, type Person } from '@/testing/person'
import { expectGoodTrace, expectNoBadTrace } from '@/testing/traces'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'
import { Clients, HISTORY_KINDS, HISTORY_SETTINGS, judge } from './clients'
import { type Node, PatroniCluster } from './patroni'

/** The number of failovers for each of the two kinds of replication. */
const FAILOVERS = Number(process.env.FAILOVERS || 10)
const INSTANCES = Number(process.env.INSTANCES || 2)

type Heal = () => void
/** The faults of the leader. */
const FAULTS: Record<string, (leader: Node, clients: Clients) => Heal | Promise<Heal>> = {
  'its database is killed': (leader) => {
    leader.signalPostgres('SIGKILL')
    return () => {}
  },
  'a planned switchover': async (leader) => {
    await leader.ask('/switchover', { leader: leader.name })
    return () => {}
  },
  'its database is killed, and its replicas lag': async (leader, clients) => {
    const { length } = clients.withdrawn
    leader.links.postgres.silence()
    // With synchronous replication nobody is answered then.
    await until('somebody is answered', () => clients.withdrawn.length > length + 1, 3_000).catch(() => {})
    leader.signalPostgres('SIGKILL')
    void leader.links.postgres.shut()
    return () => void leader.links.postgres.open()
  },
  'its machine stands still': (leader) => {
    for (const signal of [leader.signalPatroni, leader.signalPostgres]) signal.call(leader, 'SIGSTOP')
    return () => {
      for (const signal of [leader.signalPostgres, leader.signalPatroni]) signal.call(leader, 'SIGCONT')
    }
  },
  'it is alone, and clients still reach it': (leader) => {
    for (const link of Object.values(leader.links)) void link.shut()
    return () => {
      for (const link of Object.values(leader.links)) void link.open()
    }
  },
  'its machine dies': (leader) => {
    for (const signal of [leader.signalPatroni, leader.signalPostgres]) signal.call(leader, 'SIGKILL')
    return () => leader.start()
  },
}

/** Every answer that these people get from any instance, until the returned function is called. */
function askAlways({ instances }: World, people: Person[]): () => Promise<number[]> {
  let isOver = false
  const asking = instances.flatMap((instance) =>
    people.map(async (person) => {
      const statuses = new Set<number>()
      for (; !isOver; await sleep(100)) {
        await emailStatus(instance, person).then(
          ({ status }) => statuses.add(status),
          () => {},
        )
      }
      return [...statuses]
    }),
  )
  return async () => {
    isOver = true
    return [...new Set((await Promise.all(asking)).flat())]
  }
}

/** Returns three times in seconds: until another node leads, then until all withdrawals hold there, and until every instance serves. */
async function failOver(
  cluster: PatroniCluster,
  world: World,
  clients: Clients,
  stays: Person,
  what: string,
): Promise<string[]> {
  await cluster.untilWhole()
  const before = await cluster.leader()
  const startedAt = performance.now()
  const heal = await FAULTS[what]?.(before, clients)
  const withdrawn = clients.withdrawn.slice(-6)
  const stopAsking = askAlways(world, withdrawn)
  const others = cluster.nodes.filter((node) => node !== before)
  await until('another one leads', async () =>
    (await Promise.all(others.map((node) => node.isPrimary()))).some(Boolean),
  )
  const ledAt = performance.now()
  clients.noteOutage(startedAt, ledAt)
  const ids = clients.withdrawn.map(({ id }) => id)
  await until('every withdrawal holds', async () => {
    const live = await world.query('SELECT FROM users WHERE id = ANY($1) AND withdrawn_at IS NULL', [ids])
    return live.length === 0
  })
  const heldAt = performance.now()
  for (const instance of world.instances) {
    await until('its people are served', async () => (await emailStatus(instance, stays)).status === 200)
  }
  const servedAt = performance.now()
  expect((await stopAsking()).filter((status) => status !== 401 && status !== 503)).toEqual([])
  heal?.()
  return [ledAt - startedAt, heldAt - ledAt, servedAt - ledAt].map((ms) => (ms / 1000).toFixed(1))
}

test.for([true, false])(
  'F43 under load no failover loses what was answered (synchronous: %s)',
  {
    timeout: FAILOVERS * 4 * 60_000 + 5 * 60_000,
  },
  async (isSynchronous, context) => {
    const cluster = await PatroniCluster.start(context, { isSynchronous })
    const world = await givenWorld(context, HISTORY_SETTINGS, { databaseUrl: cluster.url, postgresLogs: [] })
    // Runs before the end of the world, which waits for its connections.
    context.onTestFinished(cluster.stop)
    await Promise.all(Array.from({ length: INSTANCES }, () => world.start()))
    const [stays] = await givenPeople(world, 1)
    const clients = new Clients(world, path.join(world.dataDir, 'history.ndjson'), { lives: 4 })
    const kinds = Object.keys(FAULTS)
    for (let count = 1; count <= FAILOVERS; count++) {
      const { length } = clients.withdrawn
      await until('more people are withdrawn', () => clients.withdrawn.length > length + 1)
      const kind = kinds[(count - 1) % kinds.length] as string
      const seconds = await failOver(cluster, world, clients, stays as Person, kind)
      process.stdout.write(`  ${count} ${kind}: led, held, served after ${seconds.join(', ')} s\n`)
    }
    await clients.stop()
    const output = world.instances.map((instance) => instance.output).join('')
    const replays = [...output.matchAll(/"event":"database_had_lost_withdrawals".*"replayed":(\d+)/g)]
    const replayed = replays.reduce((sum, [, count]) => sum + Number(count), 0)
    const { problems, ...judged } = await judge([clients.name], isSynchronous ? [] : ['-withdrawals'])
    process.stdout.write(`  ${FAILOVERS} failovers, ${clients.withdrawn.length} withdrawals answered, `)
    process.stdout.write(`${replayed} replayed\n  ${JSON.stringify(judged)}\n`)
    expect(problems.slice(0, 2)).toEqual([])
    // A connection that the last failover cut is noticed by its first use.
    await until('the database answers', () => world.query('SELECT'))
    // Without synchronous replication an account may be lost with its withdrawal, and the line names nobody.
    if (isSynchronous) process.stdout.write(`  ${await expectGoodTrace(world, HISTORY_KINDS)} transitions\n`)
    else await expectNoBadTrace(world)
    // Proves that asynchronous replication lost withdrawals, and that synchronous replication did not.
    expect(replayed > 0).toBe(!isSynchronous)
  },
)
