import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { browser } from '../../scripts/browser.ts'
import { fail, isAnswered, note, projectNode, root, run, tool } from '../../scripts/ensure.mjs'
import { hasProgram, runSuites, skip } from '../../scripts/suites.ts'
import { startEmbeddedPostgres } from '../../server/local/embedded-postgres.ts'

// The image of the Dockerfile made without Docker, and run by runc as a stranger who may listen on loopback and write to /data.
const MAX_MIB = 260
/** As in the base image of the Dockerfile. */
const UID = 65532
const DEBIAN = ['bookworm', 'base-files,ca-certificates,libc6,libstdc++6,tzdata'] as const
const JOURNEYS = ['change-email', 'password', 'withdraw'].map((name) => `e2e/${name}.spec.ts`)
/** What is of this machine, and the demo provider, which the image has not. */
const NOT_PASSED = /^(PATH|NODE_.*|npm_.*|LOGO_FILE|DEMO_OIDC)$/
const RUN = 'node lab/image/run.ts run'

const dir = path.join(root, '.data/image')
const bundle = path.join(dir, 'bundle')
const image = `${path.join(dir, 'oci')}:latest`
const containers = path.join(dir, 'containers')
/** That of the journeys. */
const data = path.join(root, '.data/e2e')

process.chdir(root)
const [part, id] = process.argv.slice(2)
await (part === 'run' ? runInstance(id) : part === 'inside' ? testInside() : testImage())

async function testImage() {
  const missing = ['mmdebstrap', 'umoci', 'runc', 'unshare', 'ip'].filter((name) => !hasProgram(name))
  if (process.getuid?.() !== 0 || missing.length)
    skip(`root makes the image, with Debian's tools; missing: ${missing.join() || 'root'}`)
  mkdirSync(dir, { recursive: true })
  const digests = [makeImage(), makeImage()]
  if (digests[0] !== digests[1]) fail(`Two images of one build differ: ${digests.join(' and ')}.`)
  rmSync(bundle, { recursive: true, force: true })
  sh('umoci', 'unpack', '--image', image, bundle)
  const mib = Number(sh('du', '-sm', path.join(bundle, 'rootfs')).split('\t')[0])
  note(`${digests[0]}: ${mib} MiB`)
  if (mib > MAX_MIB) fail(`The image has ${mib} MiB; at most ${MAX_MIB} are allowed.`)
  // The network has loopback only. What still runs at the end is killed with the namespace.
  const namespace = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc']
  const inside = `ip link set lo up && exec "${process.execPath}" lab/image/run.ts inside`
  process.exit(await run('unshare', [...namespace, 'sh', '-c', inside], { env: await browser() }))
}

/** Returns the digest of the image: one layer of Debian, one of Node, one of the service. */
function makeImage() {
  // The time of everything in the image is that of the last change of its packages.
  const created = new Date(sh('git', 'log', '-1', '--format=%cI', 'package-lock.json').trim()).toISOString()
  const layers = [debianLayer(), packed(nodeFolder(), created), packed(serviceFolder(), created)]
  rmSync(path.join(dir, 'oci'), { recursive: true, force: true })
  sh('umoci', 'init', '--layout', path.join(dir, 'oci'))
  sh('umoci', 'new', '--image', image)
  for (const layer of layers) {
    const history = [`--history.created=${created}`, `--history.created_by=${path.basename(layer)}`]
    sh('umoci', 'raw', 'add-layer', ...history, '--image', image, layer)
  }
  configureImage(created)
  return JSON.parse(readFileSync(path.join(dir, 'oci/index.json'), 'utf8')).manifests[0].digest
}

/** As the Dockerfile does it. */
function configureImage(created: string) {
  const env = (/^ENV (NODE_ENV=.*)$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '').split(' ')
  const settings = ['PATH=/usr/local/bin:/usr/bin:/bin', ...env].map((setting) => `--config.env=${setting}`)
  const command = ['--config.workingdir=/app', '--config.cmd=node', '--config.cmd=dist/server.mjs']
  const rest = [`--created=${created}`, `--config.user=${UID}:${UID}`, '--config.volume=/data']
  sh('umoci', 'config', '--no-history', '--image', image, ...settings, ...command, ...rest)
}

function serviceFolder() {
  const folder = path.join(dir, 'app')
  rmSync(folder, { recursive: true, force: true })
  sh(process.execPath, 'scripts/pack-app.ts', path.join(folder, 'app'))
  mkdirSync(path.join(folder, 'data'), { recursive: true })
  chownSync(path.join(folder, 'data'), UID, UID)
  return folder
}

function nodeFolder() {
  const folder = path.join(dir, 'node')
  mkdirSync(path.join(folder, 'usr/local/bin'), { recursive: true })
  copyFileSync(projectNode(), path.join(folder, 'usr/local/bin/node'))
  return folder
}

/** Debian's C++ runtime, certificates and time zones are all that Node needs. */
function debianLayer() {
  const [suite, packages] = DEBIAN
  const file = path.join(dir, `debian-${createHash('sha256').update(DEBIAN.join()).digest('hex').slice(0, 12)}.tar`)
  if (!existsSync(file)) sh('mmdebstrap', '--mode=root', '--variant=extract', `--include=${packages}`, suite, file)
  return file
}

/** Files in one order and of one time, so that one build is one digest. */
function packed(folder: string, created: string): string {
  const order = ['--sort=name', '--numeric-owner', `--mtime=${created}`, '--format=posix']
  sh('tar', ...order, '--pax-option=delete=atime,delete=ctime', '-C', folder, '-cf', `${folder}.tar`, '.')
  return `${folder}.tar`
}

/** The start, the journeys of people, and a restart behind a load balancer, each with instances of the image. */
async function testInside() {
  for (const folder of [containers, path.join(dir, 'database'), data]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(path.join(dir, 'database'))
  const { url } = await startEmbeddedPostgres({ dataDir: path.join(dir, 'database') })
  const env = { DATABASE_URL: url, START_COMMAND: RUN }
  note(`First answer after ${await startAndStop(url)} ms with an empty database, ${await startAndStop(url)} ms again`)
  const journeys = await tool('playwright', ['test', ...JOURNEYS], { env })
  process.exit(journeys || (await runSuites('lab', ['lab/faults/rolling-restart.spec.ts'], env)))
}

async function startAndStop(DATABASE_URL: string): Promise<number> {
  const startedAt = performance.now()
  const env = { ...process.env, DATABASE_URL, PORT: '3000', DATA_DIR: data }
  const child = spawn(process.execPath, [...RUN.split(' ').slice(1), 'start'], { stdio: ['ignore', 'ignore', 2], env })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  while (!(await isAnswered('http://127.0.0.1:3000/sign-in'))) {
    if (child.exitCode !== null) fail('The container ended before it answered.')
    await sleep(20)
  }
  const ms = Math.round(performance.now() - startedAt)
  sh('runc', '--root', containers, 'exec', 'start', 'node', 'dist/account.mjs', 'key', 'list')
  child.kill('SIGTERM')
  if ((await ended) !== 0) fail('The container did not end well.')
  return ms
}

/** A container whose settings are those of this process and whose /data is `DATA_DIR`. */
function runInstance(id = randomBytes(6).toString('hex')) {
  const { DATA_DIR = data, ...environment } = process.env
  const settings = Object.entries({ ...environment, APP_ENV: 'local' }).filter(([name]) => !NOT_PASSED.test(name))
  const own = path.join(containers, `${id}-bundle`)
  mkdirSync(own, { recursive: true })
  mkdirSync(DATA_DIR, { recursive: true })
  sh('chown', '-R', `${UID}:${UID}`, DATA_DIR)
  const config = JSON.parse(readFileSync(path.join(bundle, 'config.json'), 'utf8'))
  const { process: program, linux, mounts } = config
  program.terminal = false
  program.env.push(...settings.map((setting) => setting.join('=')))
  program.capabilities = {}
  config.root = { path: path.join(bundle, 'rootfs'), readonly: true }
  linux.namespaces = linux.namespaces.filter(({ type }: { type: string }) => !['network', 'user'].includes(type))
  mounts.push({ destination: '/data', type: 'bind', source: DATA_DIR, options: ['bind', 'rw'] })
  writeFileSync(path.join(own, 'config.json'), JSON.stringify(config))
  const child = spawn('runc', ['--root', containers, 'run', '--bundle', own, id], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => process.exit(code ?? 1))
}

function sh(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
