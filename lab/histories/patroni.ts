import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { globSync, openSync, readFileSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { TestContext } from 'vitest'
import { migrateDeploy } from '@/server/migrate'
import { freePort } from '@/testing/listening'
import { TcpProxy } from '@/testing/tcp-proxy'
import { NOTE_TRANSITIONS } from '@/testing/traces'
import { until } from '@/testing/until'

interface Member {
  name: string
  role: string
  state: string
  timeline?: number
  /** In bytes; a text where it is not known. */
  lag?: number | string
}

/** A replica that has lost its place in the leader's log stays further behind than this. */
const MAX_LAG = 16 * 1024 * 1024

export class Node {
  private patroni: ChildProcess | undefined

  constructor(
    readonly name: string,
    private readonly directory: string,
    readonly ports: { postgres: number; rest: number },
    readonly links: { postgres: TcpProxy; rest: TcpProxy; etcd: TcpProxy },
  ) {}

  start() {
    this.patroni = spawnAs('patroni', [path.join(this.directory, `${this.name}.yml`)], this.directory, this.name)
  }

  async ask(place: string, body?: object): Promise<Response> {
    const options = body && { method: 'POST', body: JSON.stringify(body) }
    return fetch(`http://127.0.0.1:${this.ports.rest}${place}`, { ...options, signal: AbortSignal.timeout(10_000) })
  }

  async isPrimary(): Promise<boolean> {
    const answer = this.ask('/primary')
    return answer.then(
      ({ ok }) => ok,
      () => false,
    )
  }

  /** PostgreSQL with its children, the first one first. */
  private get processes(): number[] {
    try {
      const pid = readFileSync(path.join(this.directory, this.name, 'postmaster.pid'), 'utf8').split('\n', 1)[0] ?? ''
      // Its error about a partly written file does not matter.
      const children = execFileSync('ps', ['-o', 'pid=', '--ppid', pid], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      return [pid, ...children.trim().split(/\s+/)].map(Number).filter(Boolean)
    } catch {
      return []
    }
  }

  signalPostgres(signal: NodeJS.Signals) {
    for (const pid of this.processes) {
      try {
        process.kill(pid, signal)
      } catch {}
    }
  }

  signalPatroni(signal: NodeJS.Signals) {
    this.patroni?.kill(signal)
  }
}

interface EtcdVersion {
  etcdcluster: string
}

/** Three PostgreSQL under Patroni with one etcd, behind HAProxy. */
export class PatroniCluster {
  private constructor(
    readonly url: string,
    readonly nodes: Node[],
    private readonly isSynchronous: boolean,
    /** Also at the end of the test. */
    readonly stop: () => Promise<void>,
  ) {}

  static async start(
    test: Pick<TestContext, 'onTestFinished'>,
    { isSynchronous }: { isSynchronous: boolean },
  ): Promise<PatroniCluster> {
    const directory = await mkdtemp(path.join(tmpdir(), 'patroni-'))
    if (OWNER) await chown(directory, OWNER.uid, OWNER.gid)
    const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()]
    const etcd = spawnAs('etcd', etcdArguments(directory, etcdPort, peerPort), directory, 'etcd')
    const nodes = await Promise.all(
      ['one', 'two', 'three'].map((name) => prepareNode(directory, name, etcdPort, isSynchronous)),
    )
    const haproxy = await startHaProxy(directory, port, nodes)
    const stop = async () => {
      for (const node of nodes) {
        node.signalPatroni('SIGKILL')
        node.signalPostgres('SIGKILL')
        for (const link of Object.values(node.links)) void link.shut()
      }
      etcd.kill('SIGKILL')
      haproxy.kill('SIGKILL')
      await sleep(500)
      await rm(directory, { recursive: true, force: true })
    }
    test.onTestFinished(stop)
    const [first, ...others] = nodes as [Node, ...Node[]]
    // Patroni exits if it asks before etcd has decided.
    await until('etcd has decided its version', async () => {
      const { etcdcluster } = (await (await fetch(`http://127.0.0.1:${etcdPort}/version`)).json()) as EtcdVersion
      return etcdcluster !== 'not_decided'
    })
    first.start()
    await until('the first one leads', () => first.isPrimary())
    for (const node of others) node.start()
    const cluster = new PatroniCluster(`postgresql://postgres@127.0.0.1:${port}/postgres`, nodes, isSynchronous, stop)
    await cluster.untilWhole()
    await migrateDeploy(cluster.url)
    const client = new pg.Client({ connectionString: cluster.url })
    await client.connect()
    await client.query(NOTE_TRANSITIONS)
    await client.end()
    return cluster
  }

  async leader(): Promise<Node> {
    return until('somebody leads', async () => {
      for (const node of this.nodes) if (await node.isPrimary()) return node
    })
  }

  /** The leader and two replicas that follow it. As an operator would, it copies the leader to a replica that cannot be rewound. */
  async untilWhole(): Promise<void> {
    const copied = new Set<string>()
    const startedAt = Date.now()
    await until(
      'all three are there',
      async () => {
        const leader = await this.leader()
        const { members } = (await (await leader.ask('/cluster')).json()) as { members: Member[] }
        const timeline = members.find(({ role }) => role === 'leader')?.timeline
        // One that led before still has the timeline that it led on, until it has been rewound.
        const following = members.filter(
          ({ role, state, lag = 0, ...member }) =>
            role !== 'leader' &&
            member.timeline === timeline &&
            ['streaming', 'running'].includes(state) &&
            Number(lag) < MAX_LAG,
        )
        const isSafe = !this.isSynchronous || members.some(({ role }) => role === 'sync_standby')
        if (following.length === 2 && isSafe) return true
        for (const node of this.nodes) {
          const isBehind = node !== leader && !following.some(({ name }) => name === node.name)
          if (!isBehind || copied.has(node.name) || Date.now() - startedAt < 60_000) continue
          copied.add(node.name)
          await node.ask('/reinitialize', { force: true })
        }
        throw new Error(JSON.stringify(members))
      },
      180_000,
    )
  }
}

/** PostgreSQL refuses to run as root. */
const OWNER =
  process.getuid?.() === 0
    ? { uid: Number(execFileSync('id', ['-u', 'postgres'])), gid: Number(execFileSync('id', ['-g', 'postgres'])) }
    : undefined

function spawnAs(program: string, args: string[], directory: string, log: string): ChildProcess {
  const output = openSync(path.join(directory, `${log}.log`), 'a')
  const env = { PATH: process.env.PATH, HOME: directory, TZ: 'UTC' } as unknown as NodeJS.ProcessEnv
  return spawn(program, args, { ...OWNER, cwd: directory, env, stdio: ['ignore', output, output] })
}

const etcdArguments = (directory: string, port: number, peerPort: number) => [
  ...['--data-dir', path.join(directory, 'etcd')],
  ...['--listen-client-urls', `http://127.0.0.1:${port}`, '--advertise-client-urls', `http://127.0.0.1:${port}`],
  ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
  ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peerPort}`],
  ...['--initial-cluster', `default=http://127.0.0.1:${peerPort}`],
]

async function prepareNode(directory: string, name: string, etcdPort: number, isSynchronous: boolean): Promise<Node> {
  const ports = { postgres: await freePort(), rest: await freePort() }
  const linked = { postgres: await freePort(), rest: await freePort(), etcd: await freePort() }
  const config = {
    scope: 'accounts',
    name,
    // The others reach it over its links; HAProxy and the test reach it as it is.
    restapi: { listen: `127.0.0.1:${ports.rest}`, connect_address: `127.0.0.1:${linked.rest}` },
    etcd3: { hosts: [`127.0.0.1:${linked.etcd}`], use_proxies: true },
    bootstrap: {
      dcs: {
        ...{ ttl: 20, loop_wait: 1, retry_timeout: 3, maximum_lag_on_failover: 1_000_000_000 },
        // A primary that dies is replaced and not started again.
        master_start_timeout: 0,
        synchronous_mode: isSynchronous,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_keep_size: '512MB' } },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
      pg_hba: ['all', 'replication']
        .map((database) => `host ${database} all 127.0.0.1/32 trust`)
        .concat('local all all trust'),
    },
    postgresql: {
      listen: `127.0.0.1:${ports.postgres}`,
      connect_address: `127.0.0.1:${linked.postgres}`,
      data_dir: path.join(directory, name),
      // A copy of the leader does not wait for the next checkpoint, which may be minutes away.
      basebackup: [{ checkpoint: 'fast' }],
      bin_dir: globSync('/usr/lib/postgresql/*/bin').at(-1),
      pgpass: path.join(directory, `${name}.pgpass`),
      authentication: Object.fromEntries(
        Object.entries({ superuser: 'postgres', replication: 'replicator', rewind: 'rewinder' }).map(
          ([role, username]) => [role, { username, password: 'none' }],
        ),
      ),
      parameters: { unix_socket_directories: directory },
    },
  }
  await writeFile(path.join(directory, `${name}.yml`), JSON.stringify(config))
  const links = {
    postgres: new TcpProxy(ports.postgres, linked.postgres),
    rest: new TcpProxy(ports.rest, linked.rest),
    etcd: new TcpProxy(etcdPort, linked.etcd),
  }
  for (const link of Object.values(links)) await link.open()
  return new Node(name, directory, ports, links)
}

async function startHaProxy(directory: string, port: number, nodes: Node[]): Promise<ChildProcess> {
  const servers = nodes.map(
    ({ name, ports }) => `  server ${name} 127.0.0.1:${ports.postgres} check port ${ports.rest}`,
  )
  const file = path.join(directory, 'haproxy.cfg')
  await mkdir(directory, { recursive: true })
  await writeFile(
    file,
    `defaults
  mode tcp
  timeout connect 2s
  timeout client 10m
  timeout server 10m
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 1 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`,
  )
  return spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
}
