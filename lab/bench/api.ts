import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { hash } from '@node-rs/argon2'
import { migrateDeploy } from '../../server/migrate.ts'
import { type Call, cpuOf, putLoad, type Result } from './load.ts'
import { median, openDatabase, rssMib, startUntilAnswer, stopService } from './services.ts'
import { givenUsers, OPERATIONS, type Operation, PASSWORD, SECRET } from './users.ts'

/**
 * `npm run lab -- bench-api [-- --users=1000000 --rounds=5 --only=service,floor --operations=status --against=<another server.mjs>]`: every
 * call of ours as `npm start` serves it, beside a floor (bare node:http and pg), in alternating rounds of one run. Only the ratios mean
 * something on a machine that others use as well.
 */
const { values: args } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    operations: { type: 'string', default: OPERATIONS.join() },
    connections: { type: 'string', default: '16' },
    against: { type: 'string' },
    out: { type: 'string', default: '.data/bench-api.json' },
  },
})
const USERS = Number(args.users)
const ROUNDS = Number(args.rounds)
const CONNECTIONS = Number(args.connections)
const operations = args.operations.split(',') as Operation[]
const FIRST_PORT = 4400
/** A round of reads; a round of writes ends earlier when its users are used up. */
const READ_MS = 1_000
const WRITE_MS = 2_000
/** Of each operation before the first round that counts. */
const WARM_ROUNDS = 3
const WARM_READS = 40_000
const WARM_MS = 25_000
/** So many read and change the address. Of an eighth of all changes are pending meanwhile. */
const CHANGING = Math.floor(USERS * 0.6)
const WAITING = Math.floor(USERS * 0.12)

interface Subject {
  name: string
  nodeArgs: string[]
  /** The most writes of a round, and of those that hash a password. */
  writes: number
  hashes: number
}
interface Running extends Subject {
  port: number
  child: ChildProcess
}

const bench = import.meta.dirname
const { dataDir, db, url, close } = await openDatabase('api')
const wanted = args.only?.split(',') ?? ['service', 'floor', 'before']
const children: ChildProcess[] = []
const report: Record<string, unknown> = {
  users: USERS,
  rounds: ROUNDS,
  connections: CONNECTIONS,
  node: process.version,
}
await migrateDeploy(url)
const users = givenUsers(db, await hash(PASSWORD, { memoryCost: 12_288, timeCost: 3, parallelism: 1 }))

async function main() {
  const service = { writes: 7000, hashes: 600 }
  const stub = ['--import', path.join(bench, 'stub-outside.ts')]
  const subjects: Subject[] = [
    { ...service, name: 'service', nodeArgs: [...stub, 'scripts/start.mjs'] },
    { ...service, name: 'before', nodeArgs: [...stub, path.resolve(args.against ?? '')] },
    { ...service, name: 'floor', nodeArgs: [path.join(bench, 'floor.ts')], writes: 10_000 },
  ].filter(({ name }) => wanted.includes(name) && (name !== 'before' || args.against))
  await users.seed(USERS)
  await users.prepare(Array.from({ length: WAITING }, (_, n) => CHANGING + 1 + n))
  // Before a connection keeps the plan of an empty table.
  await db.query('ANALYZE')
  const running: Running[] = []
  for (const [index, subject] of subjects.entries()) {
    const port = FIRST_PORT + index
    running.push({ ...subject, port, child: await start(subject, port) })
  }
  for (const subject of running) await warmUp(subject)
  await db.query('ANALYZE')
  const names = running.map(({ name }) => name)
  report.table = tableOf(await measureRounds(running), names)
  console.table(report.table)
  if (operations.includes('change')) await measureReadsWhileHashing(running)
  report.memoryMib = Object.fromEntries(running.map(({ name, child }) => [name, rssMib(child.pid)]))
  console.log('Memory after load, MiB', report.memoryMib)
  writeFileSync(args.out, `${JSON.stringify(report, null, 2)}\n`)
}

async function start({ name, nodeArgs }: Subject, port: number) {
  const settings = {
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    // Nothing is sent there, because stub-outside.ts counts every message as accepted.
    SMTP_URL: 'smtp://127.0.0.1:9',
    AUTH_SECRET: SECRET,
    CODE_SECRET: SECRET,
    APP_URL: `http://localhost:${FIRST_PORT}`,
    PORT: String(port),
    // No limit is met; counting costs the same.
    READ_LIMIT: '999999999',
    EMAIL_CHANGE_LIMIT: '1000',
    EMAIL_RESEND_COOLDOWN: 'PT1S',
    // The deletion steps are not what is measured; they become due after the run.
    WITHDRAWAL_TIME_SCALE: '1000',
  }
  const ready = { service: '/sign-in', before: '/sign-in', floor: '/ready' }[name]
  const { child } = await startUntilAnswer({
    nodeArgs,
    env: settings,
    until: { url: `http://localhost:${port}${ready}` },
  })
  children.push(child)
  return child
}

let taken = 0
/** Nobody comes twice in a round. Those who withdraw are made for it. */
async function takeUsers({ writes, hashes }: Subject, operation: Operation): Promise<number[]> {
  const count = Math.min(CHANGING, operation === 'change' ? hashes : writes)
  if (operation === 'withdraw') {
    const before = users.seeded
    await users.seed(count)
    return Array.from({ length: count }, (_, index) => before + 1 + index)
  }
  taken += count
  return Array.from({ length: count }, (_, index) => 1 + ((taken + index) % CHANGING))
}

let reads = 0
/** In an order that no cache of neighbouring rows helps. */
const readUser = () => 1 + ((reads++ * 7919) % CHANGING)

interface Cell extends Result {
  cpuUs: number
}

async function measure(subject: Running, operation: Operation): Promise<Cell> {
  const { port, child } = subject
  const isRead = operation === 'status'
  const callers = isRead ? [] : await takeUsers(subject, operation)
  const isPrepared = operation === 'verify' || operation === 'resend'
  if (isPrepared) await users.prepare(callers)
  const next = () => {
    const n = isRead ? readUser() : callers.shift()
    return n ? users.call(operation, n) : null
  }
  const cpuBefore = cpuOf(child.pid)
  const result = await putLoad({ port, connections: CONNECTIONS, next, maxMs: isRead ? READ_MS : WRITE_MS })
  if (!isRead) await settle(child.pid)
  const cpuUs = Math.round((cpuOf(child.pid) - cpuBefore) / result.answered)
  if (isPrepared) await users.clean()
  if (result.failed > 0)
    console.log(`${subject.name} ${operation}: ${result.failed} of ${result.answered} refused, ${result.refusal}`)
  return { ...result, cpuUs }
}

/** What goes on after the answer belongs to the request as well. */
async function settle(pid: number | undefined) {
  for (let tries = 0; tries < 100; tries++) {
    const before = cpuOf(pid)
    await sleep(60)
    if (cpuOf(pid) - before < 6_000) return
  }
}

async function warmUp(subject: Running) {
  console.log(`Warming up ${subject.name}`)
  let left = Math.min(WARM_READS, 10 * USERS)
  const next = () => (left-- > 0 ? users.call('status', readUser()) : null)
  const result = await putLoad({ port: subject.port, connections: CONNECTIONS, next, maxMs: WARM_MS })
  if (result.failed > 0) throw new Error(`${subject.name} refuses: ${result.refusal}`)
  for (const operation of operations) {
    if (operation === 'status') continue
    for (let round = 0; round < WARM_ROUNDS; round++) await measure(subject, operation)
  }
}

/** What was measured of a subject in each round, by the operation and the name of the subject. */
type Measured = Map<string, Cell[]>
const keyOf = (operation: Operation, name: string) => `${operation} ${name}`

async function measureRounds(subjects: Running[]): Promise<Measured> {
  const measured: Measured = new Map()
  for (let round = 0; round < ROUNDS; round++) {
    console.log(`Round ${round + 1}`)
    for (const operation of operations) {
      // The order turns with the round, so that nobody always comes first.
      for (let turn = 0; turn < subjects.length; turn++) {
        const subject = subjects[(turn + round) % subjects.length] as Running
        const key = keyOf(operation, subject.name)
        measured.set(key, [...(measured.get(key) ?? []), await measure(subject, operation)])
      }
    }
  }
  return measured
}

const tableOf = (measured: Measured, names: string[]) =>
  operations.flatMap((operation) =>
    names.map((name) => {
      const cells = measured.get(keyOf(operation, name)) ?? []
      const of = (figure: 'perSecond' | 'p50' | 'p99' | 'cpuUs') => median(cells.map((cell) => cell[figure]))
      const figures = { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), cpuUs: of('cpuUs') }
      const others = name === 'service' ? names.filter((other) => other !== name) : []
      const ratios = others.map((other) => [`of ${other}`, ratioOf(cells, measured.get(keyOf(operation, other)) ?? [])])
      return { operation, name, ...figures, ...Object.fromEntries(ratios) }
    }),
  )

/** The median of the rounds' ratios, because what slows one round slows both sides of it. */
function ratioOf(mine: Cell[], theirs: Cell[]): number {
  const ratios = mine.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN))
  return Number(median(ratios).toFixed(2))
}

/** Eight connections read while eight others change the address with a password. */
async function measureReadsWhileHashing(subjects: Running[]) {
  const rows = []
  for (const subject of subjects) {
    const { name, port } = subject
    const callers = await takeUsers({ ...subject, hashes: 2_000 }, 'change')
    const load = (next: () => Call) => putLoad({ port, connections: 8, next, maxMs: 2 * WRITE_MS })
    const [read, changed] = await Promise.all([
      load(() => users.call('status', readUser())),
      load(() => users.call('change', callers.shift() ?? 1)),
    ])
    rows.push({ name, reads: read.perSecond, p50: read.p50, p99: read.p99, changes: changed.perSecond })
  }
  report.readsWhileHashing = rows
  console.table(rows)
}

try {
  await main()
} finally {
  await Promise.all(children.map(stopService))
  await close()
}
