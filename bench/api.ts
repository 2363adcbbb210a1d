import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { hash } from '@node-rs/argon2'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/local/embedded-postgres.ts'
import { type Call, cpuOf, postgresPids, putLoad, type Result, rssMib } from './load.ts'
import { countStatements, median, seedUsers, startUntilAnswer, stopService, tokenOf } from './start-up.ts'

/**
 * `npm run bench:api [-- --users=1000000 --rounds=5 --only=mounted,floor --against=<another server.mjs>]`: every endpoint of ours
 * as `npm start` serves it and in Next's route handlers, beside a floor (bare node:http and pg) and a peer (better-auth, installed
 * into .data/bench-peer), in alternating rounds of one run. Only the ratios mean something on a machine that others use as well.
 */
const { values: args } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    /** Changes of other users that are pending meanwhile, on both sides. */
    pending: { type: 'string', default: '12000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    operations: { type: 'string' },
    connections: { type: 'string', default: '16,128' },
    against: { type: 'string' },
    out: { type: 'string', default: '.data/bench-api.json' },
    port: { type: 'string', default: '4400' },
    warm: { type: 'string', default: '40000' },
    /** A directory for the CPU profiles of our services. */
    profile: { type: 'string' },
  },
})
const USERS = Number(args.users)
const PENDING = Number(args.pending)
const ROUNDS = Number(args.rounds)
const FIRST_PORT = Number(args.port)
const PEER_VERSION = '1.7.7'
const PASSWORD = 'correct horse battery'
const SECRET = 'kq8Zt2Vw5Xy7Rb3Nc9Md1Lf4Gh6Js0Pa'
const DATA_DIR = path.resolve('.data/bench-api')
const PEER_DIR = path.resolve('.data/bench-peer')
const BENCH_DIR = import.meta.dirname
const READ_MS = 1_000
/** A round of writes, or earlier when its users are used up. */
const WRITE_MS = 2_000
/** Of each write before the first round that counts. */
const WARM_ROUNDS = 3
/** So many are read and change the address, and of so many after them the changes are pending. */
const CHANGING = Math.floor(USERS * 0.6)
const WAITING = Math.min(PENDING, Math.floor(USERS * 0.12))

type Operation = 'status' | 'change' | 'change-no-hash' | 'verify' | 'resend' | 'withdraw'
const OPERATIONS = (args.operations?.split(',') ?? [
  ...['status', 'change', 'change-no-hash', 'verify', 'resend', 'withdraw'],
]) as Operation[]
const CONNECTIONS = args.connections.split(',').map(Number)

interface Subject {
  name: string
  port: number
  script: string
  nodeArgs?: string[]
  env: Record<string, string>
  family: 'ours' | 'peer'
  /** The most writes of a round, and with the hash. */
  writes: number
  hashes: number
  child?: ChildProcess
}

rmSync(DATA_DIR, { recursive: true, force: true })
mkdirSync(DATA_DIR, { recursive: true })
const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR })
const peerUrl = Object.assign(new URL(postgres.url), { pathname: '/peer' }).href
const db = new pg.Client({ connectionString: postgres.url })
const peerDb = new pg.Client({ connectionString: peerUrl })
await db.connect()
const children: ChildProcess[] = []

const sinkPort = FIRST_PORT + 20
const settings = {
  DATA_DIR,
  DATABASE_URL: postgres.url,
  SMTP_URL: `smtp://127.0.0.1:${sinkPort}`,
  AUTH_SECRET: SECRET,
  CODE_SECRET: SECRET,
  // No limit is met; counting costs the same.
  READ_LIMIT: '999999999',
  EMAIL_CHANGE_LIMIT: '1000',
  EMAIL_RESEND_COOLDOWN: 'PT1S',
  // The deletion steps are not what is measured; they become due after the run.
  WITHDRAWAL_TIME_SCALE: '1000',
}
const profiling = args.profile ? ['--cpu-prof', `--cpu-prof-dir=${path.resolve(args.profile)}`] : []
const stub = [...profiling, '--import', path.join(BENCH_DIR, 'stub-outside.mjs')]
const peerSettings = { DATABASE_URL: peerUrl, AUTH_SECRET: SECRET, BENCH_PASSWORD: PASSWORD }
const stubbed = { ...settings, BENCH_MAIL: 'stub' }
const nextAlone = path.join(BENCH_DIR, 'next-alone.mjs')
const all: Omit<Subject, 'port'>[] = [
  {
    name: 'npm start with SMTP',
    script: 'scripts/start.mjs',
    nodeArgs: stub,
    env: settings,
    family: 'ours',
    writes: 2500,
    hashes: 600,
  },
  {
    name: 'mounted',
    script: 'scripts/start.mjs',
    nodeArgs: stub,
    env: stubbed,
    family: 'ours',
    writes: 7000,
    hashes: 600,
  },
  { name: 'in Next', script: nextAlone, nodeArgs: stub, env: stubbed, family: 'ours', writes: 3500, hashes: 600 },
  {
    name: 'floor',
    script: path.join(BENCH_DIR, 'floor.ts'),
    env: settings,
    family: 'ours',
    writes: 10_000,
    hashes: 600,
  },
  {
    name: 'better-auth',
    script: path.join(PEER_DIR, 'node.mjs'),
    env: peerSettings,
    family: 'peer',
    writes: 1600,
    hashes: 70,
  },
  {
    name: 'better-auth in Next',
    script: path.join(PEER_DIR, 'next-alone.mjs'),
    env: { ...peerSettings, BENCH_NEXT_DIR: PEER_DIR },
    family: 'peer',
    writes: 1000,
    hashes: 70,
  },
]
if (args.against) {
  const before = { script: path.resolve(args.against), nodeArgs: stub, env: stubbed, family: 'ours' as const }
  all.push({ name: 'before', ...before, writes: 7000, hashes: 600 })
}
const wanted = args.only?.split(',')
const subjects: Subject[] = all
  .filter(({ name }) => !wanted || wanted.includes(name))
  .map((subject, index) => ({ ...subject, port: FIRST_PORT + index }))
// Sixteen connections each; the server has a hundred.
if (subjects.length > 6) throw new Error('Name six at most with --only.')
const ours = subjects.filter(({ family }) => family === 'ours')
const peers = subjects.filter(({ family }) => family === 'peer')

const CODE = '123456'
const changeIds = new Map<number, string>()
const nextUser: Record<string, number> = {}
const ourHash = await hash(PASSWORD, { memoryCost: 12_288, timeCost: 3, parallelism: 1 })
let peerHash = ''
const seeded = { ours: 0, peer: 0 }
/** Marks what was prepared last. */
let prepared = ''
/** So many users more. */
const seed = {
  ours: async (count: number) => {
    await seedUsers(db, count, ourHash, seeded.ours + 1)
    seeded.ours += count
  },
  peer: async (count: number) => {
    const from = `FROM generate_series(${seeded.peer + 1}, ${seeded.peer + count}) n`
    await peerDb.query(`INSERT INTO "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
      SELECT 'usr_bench' || n, 'Bench', 'u' || n || '@example.test', true, now(), now() ${from}`)
    await peerDb.query(`INSERT INTO session (id, token, "userId", "expiresAt", "createdAt", "updatedAt")
      SELECT 'ses_bench' || n, lpad(n::text, 32, 'a'), 'usr_bench' || n, now() + interval '7 days', now(), now() ${from}`)
    await peerDb.query(`INSERT INTO account (id, "accountId", "providerId", "userId", password, "createdAt", "updatedAt")
      SELECT 'acc_bench' || n, 'usr_bench' || n, 'credential', 'usr_bench' || n, '${peerHash}', now(), now() ${from}`)
    seeded.peer += count
  },
}
let serial = Date.now()
let reads = 0
const report: Record<string, unknown> = { users: USERS, rounds: ROUNDS, node: process.version }
try {
  await main()
} finally {
  await Promise.all(children.map(stopService))
  await db.end()
  await peerDb.end().catch(() => {})
  await postgres.stop()
}
process.exit(0)

async function main() {
  await start('SMTP sink', { script: path.join(BENCH_DIR, 'smtp-sink.ts'), port: sinkPort, env: {} })
  // The first applies the migrations.
  for (const subject of ours) subject.child = await start(subject.name, subject)
  await seed.ours(USERS)
  if (peers.length > 0) await preparePeers()
  await seedPending()
  await analyse()
  say(`Warming up ${subjects.map(({ name }) => name).join(', ')}`)
  for (const subject of subjects) await warmUp(subject)
  await analyse()
  await measureRounds()
  if (!args.profile) await measureStatements()
  if (OPERATIONS.includes('change')) await measureReadsWhileHashing()
  report.rssMib = Object.fromEntries(subjects.map(({ name, child }) => [name, rssMib(child?.pid as number)]))
  say('RSS after load, MiB', report.rssMib)
  if (!args.profile && !args.against) {
    await measureTwoInstances()
    await measureFirstAnswer()
  }
  writeFileSync(args.out, `${JSON.stringify(report, null, 2)}\n`)
}

/** Output goes to a file, as that of a service does; it is ready when that says so. */
async function start(
  name: string,
  { script, port, env, nodeArgs = [] }: Pick<Subject, 'script' | 'port' | 'env' | 'nodeArgs'>,
) {
  const logFile = path.join(DATA_DIR, `${name.replaceAll(/\W+/g, '-')}-${port}.log`)
  writeFileSync(logFile, '')
  const output = openSync(logFile, 'a')
  const child = spawn(process.execPath, [...nodeArgs, script], {
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', PORT: String(port), ...env },
    stdio: ['ignore', output, output],
  })
  children.push(child)
  while (!readFileSync(logFile, 'utf8').includes('Ready')) {
    if (child.exitCode !== null) throw new Error(`${name} ended:\n${readFileSync(logFile, 'utf8').slice(-2000)}`)
    await sleep(20)
  }
  return child
}

async function preparePeers() {
  const installed = path.join(PEER_DIR, 'node_modules/better-auth')
  mkdirSync(PEER_DIR, { recursive: true })
  cpSync(path.join(BENCH_DIR, 'peer'), PEER_DIR, { recursive: true })
  cpSync(nextAlone, path.join(PEER_DIR, 'next-alone.mjs'))
  if (!existsSync(installed)) {
    say(`Installing better-auth ${PEER_VERSION} into ${PEER_DIR}`)
    const npm = ['i', '--no-save', '--no-audit', '--no-fund', '--prefix', PEER_DIR, `better-auth@${PEER_VERSION}`]
    execFileSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] })
  }
  if (peers.some(({ name }) => name.endsWith('Next'))) {
    say('Building better-auth in Next')
    execFileSync(process.execPath, [path.resolve('node_modules/next/dist/bin/next'), 'build', PEER_DIR], {
      env: { ...process.env, ...peerSettings, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', PORT: '4400' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  await db.query('CREATE DATABASE peer')
  await peerDb.connect()
  peerHash = execFileSync(process.execPath, [path.join(PEER_DIR, 'prepare.mjs')], {
    env: { ...process.env, ...peerSettings, PORT: '4400' },
    encoding: 'utf8',
  })
  await seed.peer(USERS)
  for (const subject of peers) subject.child = await start(subject.name, subject)
}

async function analyse() {
  await db.query('ANALYZE')
  if (peers.length > 0) await peerDb.query('ANALYZE')
}

/** Who withdraws is made for it; the others may come again. */
async function takeUsers({ family }: Subject, operation: Operation, count: number): Promise<number[]> {
  const used = nextUser[`${family} ${operation}`] ?? 0
  nextUser[`${family} ${operation}`] = used + count
  if (operation !== 'withdraw') return Array.from({ length: count }, (_, index) => 1 + ((used + index) % CHANGING))
  const missing = USERS + used + count - seeded[family]
  if (missing > 0) await seed[family](missing)
  return Array.from({ length: count }, (_, index) => USERS + used + index + 1)
}

/** Of users that no operation takes. */
async function seedPending() {
  const first = CHANGING + 1
  const users = Array.from({ length: WAITING }, (_, index) => first + index)
  for (const subject of [ours[0], peers[0]]) if (subject) await prepare(subject, 'verify', users)
}

/** Whom a round did not come to is taken by the next; pending changes would pile up, those of resends all of them. */
async function putBack({ family }: Subject, operation: Operation, users: number[], left: number[]) {
  ;(nextUser[`${family} ${operation}`] as number) -= left.length
  if (operation !== 'verify' && operation !== 'resend') return
  const over = operation === 'resend' ? users : left
  if (family === 'ours') {
    await db.query('DELETE FROM email_change_requests WHERE id = ANY($1)', [over.map((n) => changeIds.get(n))])
  } else {
    await peerDb.query('DELETE FROM verification WHERE id = ANY($1)', [over.map((n) => `v${prepared}${n}`)])
  }
}

/** The pending changes that a verify or resend needs, written by SQL. */
async function prepare(subject: Subject, operation: Operation, users: number[]) {
  if (operation !== 'verify' && operation !== 'resend') return
  const run = Date.now().toString(36)
  prepared = run
  if (subject.family === 'peer') {
    const value = `${createHash('sha256').update(CODE).digest('base64url')}:0`
    await peerDb.query(
      `INSERT INTO verification (id, identifier, value, "expiresAt", "createdAt", "updatedAt")
       SELECT 'v' || $2 || n, 'change-email-otp-' || u.email || '-new' || n || $2 || '@example.test', $3,
              now() + interval '12 hours', now(), now()
       FROM unnest($1::int[]) n JOIN "user" u ON u.id = 'usr_bench' || n`,
      [users, run, value],
    )
    for (const n of users) changeIds.set(n, `new${n}${run}@example.test`)
    return
  }
  const ids = users.map((n) => `ecr_${(run + n).padEnd(22, 'x')}`)
  const macs = ids.map((id) => createHmac('sha256', SECRET).update(`verification-code\0${id}:${CODE}`).digest())
  users.forEach((n, index) => {
    changeIds.set(n, ids[index] as string)
  })
  await db.query(`DELETE FROM email_change_requests WHERE user_id = ANY($1) AND status = 'pending_verification'`, [
    users.map((n) => `usr_bench${n}`),
  ])
  await db.query(
    `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at,
                                        request_ip, sent_at, expires_at)
     SELECT r.id, u.id, 'pending_verification', 'email_code', u.email, 'new' || r.n || $4 || '@example.test',
            'new' || r.n || $4 || '@example.test', r.mac, now(), '127.0.0.1', now() - interval '1 hour', now() + interval '11 hours'
     FROM unnest($1::text[], $2::int[], $3::bytea[]) r (id, n, mac) JOIN users u ON u.id = 'usr_bench' || r.n`,
    [ids, users, macs, run],
  )
}

function callFor(subject: Subject, operation: Operation, n: number): Call {
  if (subject.family === 'peer') return peerCall(operation, n)
  const headers: Record<string, string> = {
    Authorization: `Bearer ${tokenOf(n)}`,
    'X-Required-Scope': operation === 'withdraw' ? 'account:manage' : 'email:manage',
  }
  const at = `/api/v1/users/usr_bench${n}`
  const method = 'POST'
  switch (operation) {
    case 'status':
      return { method: 'GET', path: `${at}/email/status`, headers }
    case 'change':
    case 'change-no-hash': {
      const current_password = operation === 'change' ? PASSWORD : 'no hash'
      const body = { new_email: `c${serial++}@example.test`, current_password }
      return { method, path: `${at}/email/change`, headers, body }
    }
    case 'verify': {
      const body = { change_request_id: changeIds.get(n), verification_code: CODE }
      return { method, path: `${at}/email/verify`, headers, body }
    }
    case 'resend':
      return { method, path: `${at}/email/resend-verification`, headers, body: { change_request_id: changeIds.get(n) } }
    case 'withdraw':
      return {
        method,
        path: `${at}/withdraw`,
        headers,
        body: { confirmation: 'DELETE_MY_ACCOUNT', reason: 'no_longer_needed' },
      }
  }
}

function peerCall(operation: Operation, n: number): Call {
  const token = String(n).padStart(32, 'a')
  const signature = encodeURIComponent(createHmac('sha256', SECRET).update(token).digest('base64'))
  const headers = { Authorization: `Bearer ${token}.${signature}` }
  const method = 'POST'
  const newEmail = `c${serial++}@example.test`
  switch (operation) {
    case 'status':
      return { method: 'GET', path: '/api/auth/get-session', headers }
    case 'change':
      return {
        method,
        path: '/api/auth/email-otp/request-email-change',
        headers,
        body: { newEmail, currentPassword: PASSWORD },
      }
    case 'change-no-hash':
    case 'resend':
      return {
        method,
        path: '/api/auth/email-otp/request-email-change',
        headers,
        body: { newEmail, currentPassword: 'no hash' },
      }
    case 'verify':
      return {
        method,
        path: '/api/auth/email-otp/change-email',
        headers,
        body: { newEmail: changeIds.get(n), otp: CODE },
      }
    case 'withdraw':
      return { method, path: '/api/auth/delete-user', headers, body: {} }
  }
}

interface Cell extends Result {
  cpuUs: number
  pgUs: number
}

async function measure(subject: Subject, operation: Operation, connections: number, count: number): Promise<Cell> {
  const pid = subject.child?.pid as number
  const isRead = operation === 'status'
  const users = isRead ? [] : await takeUsers(subject, operation, count)
  await prepare(subject, operation, users)
  let sent = 0
  const next = (): Call | null => {
    if (isRead) return callFor(subject, operation, readUser())
    const n = users[sent++]
    return n === undefined ? null : callFor(subject, operation, n)
  }
  const servers = postgresPids(DATA_DIR)
  const cpuBefore = cpuOf(pid)
  const pgBefore = servers.map(cpuOf)
  const result = await putLoad({ port: subject.port, connections, next, mostMs: isRead ? READ_MS : WRITE_MS })
  if (!isRead) await settle(pid)
  const cpu = (cpuOf(pid) - cpuBefore) / result.answered
  // Connections that opened meanwhile begin at nothing; one that closed, because its pool was idle, has done nothing.
  const pgCpu =
    postgresPids(DATA_DIR).reduce((sum, id) => sum + cpuOf(id) - (pgBefore[servers.indexOf(id)] ?? 0), 0) /
    result.answered
  if (!isRead) await putBack(subject, operation, users, users.slice(sent))
  if (result.failed > 0)
    say(`${subject.name} ${operation}: ${result.failed} of ${result.answered} refused`, result.refusal?.slice(-160))
  return { ...result, cpuUs: Math.round(cpu), pgUs: Math.round(pgCpu) }
}

/** What goes on after the answer belongs to the request as well. */
async function settle(pid: number) {
  for (let tries = 0; tries < 100; tries++) {
    const before = cpuOf(pid)
    await sleep(60)
    if (cpuOf(pid) - before < 6_000) return
  }
}

/** In an order that no cache of neighbouring rows helps, among those who never withdraw. */
function readUser() {
  return 1 + ((reads++ * 7919) % CHANGING)
}

async function warmUp(subject: Subject) {
  let left = Number(args.warm)
  // What Next adds needs some 50,000 requests until it is compiled.
  const next = () => (left-- > 0 ? callFor(subject, 'status', readUser()) : null)
  const result = await putLoad({ port: subject.port, connections: 16, next, mostMs: 25_000 })
  if (result.failed > 0) throw new Error(`${subject.name} refuses: ${result.refusal}`)
  for (const operation of OPERATIONS) {
    if (operation === 'status' || isLeftOut(subject, operation, 16)) continue
    for (let round = 0; round < WARM_ROUNDS; round++) await measure(subject, operation, 16, countOf(subject, operation))
  }
}

/** Nobody twice in a round. */
function countOf(subject: Subject, operation: Operation) {
  return Math.min(CHANGING, operation === 'change' ? subject.hashes : subject.writes)
}

/** The peer has no resend of its own; at more connections a hash only waits longer. */
function isLeftOut({ family }: Subject, operation: Operation, connections: number) {
  return (operation === 'resend' && family === 'peer') || (connections > 16 && /^(change|resend)$/.test(operation))
}

async function measureRounds() {
  const cells = new Map<string, Cell[]>()
  for (let round = 1; round <= ROUNDS; round++) {
    say(`Round ${round}`)
    for (const operation of OPERATIONS) {
      for (const connections of CONNECTIONS) {
        // The order turns with the round, so that nobody always comes first.
        for (let turn = 0; turn < subjects.length; turn++) {
          const subject = subjects[(turn + round) % subjects.length] as Subject
          if (isLeftOut(subject, operation, connections)) continue
          const cell = await measure(subject, operation, connections, countOf(subject, operation))
          const key = `${operation} ${connections} ${subject.name}`
          cells.set(key, [...(cells.get(key) ?? []), cell])
        }
      }
    }
  }
  const table = [...cells].map(([key, list]) => {
    const of = (pick: (cell: Cell) => number) => median(list.map(pick))
    const [operation, connections] = key.split(' ')
    const name = key.split(' ').slice(2).join(' ')
    return {
      operation,
      connections: Number(connections),
      subject: name,
      perSecond: of(({ perSecond }) => perSecond),
      p50: of(({ p50 }) => p50),
      p99: of(({ p99 }) => p99),
      cpuUs: of(({ cpuUs }) => cpuUs),
      pgUs: of(({ pgUs }) => pgUs),
      failed: list.reduce((sum, { failed }) => sum + failed, 0),
    }
  })
  report.table = table
  process.stdout.write(`${table.map((row) => Object.values(row).join(' | ')).join('\n')}\n`)
  // A ratio is the median of the rounds' ratios: what slows one round slows both sides of it.
  report.ratios = OPERATIONS.flatMap((operation) =>
    CONNECTIONS.flatMap((connections) =>
      subjects.flatMap((subject) =>
        subjects
          .filter((other) => other !== subject && subject.family === 'ours')
          .flatMap((other) => {
            const mine = cells.get(`${operation} ${connections} ${subject.name}`)
            const theirs = cells.get(`${operation} ${connections} ${other.name}`)
            if (!mine || !theirs) return []
            const ratio = median(
              mine.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN)),
            )
            const cpu = median(mine.map(({ cpuUs }, round) => cpuUs / (theirs[round]?.cpuUs ?? Number.NaN)))
            return [{ operation, connections, of: subject.name, to: other.name, rate: round2(ratio), cpu: round2(cpu) }]
          }),
      ),
    ),
  )
  say(
    'Ratios',
    (report.ratios as object[]).map((row) => Object.values(row).join(' | ')),
  )
}

/** Counted one call after another. */
async function measureStatements() {
  const SAMPLE = 20
  const counts: Record<string, unknown> = {}
  for (const subject of subjects) {
    for (const operation of OPERATIONS) {
      if (operation === 'change' || isLeftOut(subject, operation, 1)) continue
      const users =
        operation === 'status' ? Array.from({ length: SAMPLE }, readUser) : await takeUsers(subject, operation, SAMPLE)
      await prepare(subject, operation, users)
      const names = await countStatements(db, `${DATA_DIR}/pg.log`, async () => {
        let sent = 0
        const next = () => (sent < users.length ? callFor(subject, operation, users[sent++] as number) : null)
        await putLoad({ port: subject.port, connections: 1, next })
        await settle(subject.child?.pid as number)
      })
      for (const name of ['SELECT', 'ALTER']) names.delete(name)
      const each = [...names]
        .filter(([, count]) => count >= SAMPLE)
        .map(([name, count]) => [name, round2(count / SAMPLE)])
      counts[`${subject.name} ${operation}`] = Object.fromEntries(each)
    }
  }
  report.statements = counts
  say('Statements per request', counts)
}

async function measureReadsWhileHashing() {
  const table: object[] = []
  const rounds = Math.min(3, ROUNDS)
  const results = new Map<string, { reads: Result; changes: Result }[]>()
  const both = async (subject: Subject, readers: number, changers: number, count: number, mostMs: number) => {
    const users = await takeUsers(subject, 'change', count)
    let sent = 0
    const nextChange = () => (sent < users.length ? callFor(subject, 'change', users[sent++] as number) : null)
    const nextRead = () => callFor(subject, 'status', readUser())
    const [reads, changes] = await Promise.all([
      putLoad({ port: subject.port, connections: readers, next: nextRead, mostMs }),
      putLoad({ port: subject.port, connections: changers, next: nextChange, mostMs }),
    ])
    if (changes.failed) say(`${subject.name}: ${changes.failed} changes refused`, changes.refusal)
    return { reads, changes }
  }
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) {
      const result = await both(subject, 8, 8, 2000, 2_000)
      results.set(subject.name, [...(results.get(subject.name) ?? []), result])
    }
  }
  for (const [name, list] of results) {
    table.push({
      subject: name,
      reads: median(list.map(({ reads }) => reads.perSecond)),
      p50: median(list.map(({ reads }) => reads.p50)),
      p99: median(list.map(({ reads }) => reads.p99)),
      changes: median(list.map(({ changes }) => changes.perSecond)),
    })
  }
  report.readsWhileHashing = table
  say('8 connections read while 8 change with a password', table)
  const crowd: Record<string, object> = {}
  for (const subject of ours) {
    const { reads, changes } = await both(subject, 16, 200, 2000, 4_000)
    crowd[subject.name] = {
      reads: reads.perSecond,
      p50: reads.p50,
      p99: reads.p99,
      changes: changes.perSecond,
      p99Changes: changes.p99,
    }
  }
  report.twoHundredChecks = crowd
  say('16 connections read while 200 change with a password', crowd)
}

async function measureTwoInstances() {
  const one = subjects.find(({ name }) => name === 'mounted')
  if (!one) return
  // The others' connections would leave too few.
  for (const { child } of subjects) if (child && child !== one.child) await stopService(child)
  const two: Subject = { ...one, port: FIRST_PORT + 30 }
  two.child = await start('mounted again', two)
  await warmUp(two)
  const load = (subject: Subject, connections: number) =>
    putLoad({ port: subject.port, connections, next: () => callFor(subject, 'status', readUser()), mostMs: READ_MS })
  const single: number[] = []
  const double: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    single.push((await load(one, 32)).perSecond)
    const [a, b] = await Promise.all([load(one, 16), load(two, 16)])
    double.push(a.perSecond + b.perSecond)
  }
  report.twoInstances = { one: median(single), two: median(double) }
  say('Reads per second of one and of two instances, 32 connections', report.twoInstances)
  await stopService(two.child)
}

async function measureFirstAnswer() {
  const took = new Map<string, number[]>()
  for (let round = 0; round < Math.max(10, ROUNDS); round++) {
    for (const { name, nodeArgs = [], script, ...subject } of subjects) {
      const port = FIRST_PORT + 40
      const { path: url, headers } = callFor({ name, script, ...subject }, 'status', readUser())
      const env = { ...subject.env, PORT: String(port) }
      const first = { url: `http://127.0.0.1:${port}${url}`, headers }
      const { child, ms } = await startUntilAnswer([...nodeArgs, script], env, first)
      children.push(child)
      await stopService(child)
      took.set(name, [...(took.get(name) ?? []), ms])
    }
  }
  report.firstAnswerMs = Object.fromEntries([...took].map(([name, list]) => [name, Math.round(median(list))]))
  say('First 200 after start, ms', report.firstAnswerMs)
}

function round2(value: number) {
  return Math.round(value * 100) / 100
}

function say(title: string, value?: unknown) {
  const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 1)
  process.stdout.write(`== ${title} ${text ? `==\n${text}` : '=='}\n`)
}
