import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { withLock } from '../server/local/process-lock.mjs'

// JavaScript, because a start begins under the Node of the machine, which may not know types. Everything else is TypeScript.

export const root = fileURLToPath(new URL('..', import.meta.url))

const TOOLS = {
  biome: '@biomejs/biome/bin/biome',
  next: 'next/dist/bin/next',
  playwright: '@playwright/test/cli.js',
  prisma: 'prisma/build/index.js',
  tsc: 'typescript/bin/tsc',
  vitest: 'vitest/vitest.mjs',
}

/** The sources of each bundle. Their hash in dist/ tells whether the bundle is up to date. */
const OF_ACCOUNT = [
  ...['cli', 'contract', 'domain', 'emails', 'inngest', 'messages', 'server', 'prisma/schema.prisma'],
  ...['scripts/build.ts', 'tsconfig.json', 'package-lock.json'],
]
const OF_PAGES = [
  'app',
  'components',
  'instrumentation.ts',
  'instrumentation-client.ts',
  'next.config.mjs',
  'postcss.config.mjs',
]
const SOURCES = { build: [...OF_ACCOUNT, ...OF_PAGES], account: OF_ACCOUNT }
const ACCOUNT_OUTPUTS = ['dist/account.mjs', 'dist/password-worker.mjs']
const OUTPUTS = {
  build: [...ACCOUNT_OUTPUTS, 'dist/server.mjs', 'dist/client.mjs', '.next/BUILD_ID'],
  account: ACCOUNT_OUTPUTS,
}

/** @param {string} line */
export function note(line) {
  process.stderr.write(`${line}\n`)
}

/**
 * @param {string} sentence
 * @returns {never}
 */
export function fail(sentence) {
  note(sentence)
  process.exit(1)
}

/**
 * Resolves with the exit code, or 128 + signal as in a shell. With `quiet`, the output is shown on failure only.
 * @typedef {Omit<import('node:child_process').SpawnOptions, 'env'> & { env?: Record<string, string>, quiet?: boolean }} RunOptions
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { quiet = false, ...options } = {}) {
  const PATH = [...new Set([dirname(projectNode()), ...(process.env.PATH ?? '').split(delimiter)])].join(delimiter)
  const child = spawn(command, args, {
    cwd: root,
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    ...options,
    env: { ...process.env, PATH, NEXT_TELEMETRY_DISABLED: '1', ...options.env },
  })
  /** @type {Buffer[]} */
  const output = []
  child.stdout?.on('data', (data) => output.push(data))
  child.stderr?.on('data', (data) => output.push(data))
  return new Promise((done, stop) => {
    child.on('error', stop)
    child.on('close', (code, signal) => {
      if (code !== 0) process.stderr.write(Buffer.concat(output))
      done(code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)])
    })
  })
}

/**
 * Runs a development tool under the project's Node.
 * @param {keyof typeof TOOLS} name
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export function tool(name, args, options) {
  return run(projectNode(), [join(root, 'node_modules', TOOLS[name]), ...args], options)
}

export function projectNode() {
  const node = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
  return existsSync(node) ? node : process.execPath
}

export function isProjectNode() {
  return realpathSync(projectNode()) === realpathSync(process.execPath)
}

/** Returns under the project's Node; otherwise runs the same command under it and exits with its code. */
async function underProjectNode() {
  if (isProjectNode()) return
  // The terminal sends Ctrl-C to both processes; the child decides when to exit.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  process.exit(await run(projectNode(), [...process.execArgv, ...process.argv.slice(1)]))
}

/** How a script begins: in the root, with its packages, and under the project's Node. */
export async function begin() {
  process.chdir(root)
  await ensureInstalled()
  await underProjectNode()
}

/** Runs a script in TypeScript with the words that follow its name, as if they were the command. */
export async function launch() {
  const [script = '', ...words] = process.argv.slice(2)
  process.argv.splice(1, Infinity, resolve(root, script), ...words)
  await begin()
  await import(pathToFileURL(/** @type {string} */ (process.argv[1])).href)
}

/**
 * Whether the URL answers with a good status.
 * @param {string} url
 */
export const isAnswered = (url) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * A SIGTERM to npm ends the shell between npm and us and does not arrive here. A new parent process shows it.
 * @param {() => void} stop
 */
export function stopWithNpm(stop) {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    stop()
  }, 500)
  watch.unref()
}

export async function ensureInstalled() {
  const marker = join(root, 'node_modules/.installed-lock')
  const wanted = hashOf(['package-lock.json'], `${process.platform}-${process.arch}`)
  if (readText(marker) === wanted) return
  await withLock(
    join(root, '.data/install.lock'),
    async () => {
      if (readText(marker) === wanted) return
      if (!isInstalled()) {
        note('Installing packages (about 1.5 GB, with a Node 24), which takes one to three minutes …')
        const installing = npm(['ci', '--include=dev', '--no-fund', '--no-audit', '--loglevel=error'])
        const code = await telling('Still installing', installing)
        if (code !== 0) fail('Installing the packages failed (npm ci).')
      }
      writeFileSync(marker, wanted)
    },
    () => note('Waiting for another process that installs packages …'),
  )
}

/**
 * Says every half minute that something still runs.
 * @template T
 * @param {string} what
 * @param {Promise<T>} running
 */
async function telling(what, running) {
  const begin = Date.now()
  const timer = setInterval(() => note(`${what}, after ${Math.round((Date.now() - begin) / 1000)} s …`), 30_000)
  return running.finally(() => clearInterval(timer))
}

/** Whether `npm ci` has already installed what the lock file asks for. */
function isInstalled() {
  const present = readText(join(root, 'node_modules/.package-lock.json'))
  if (!present) return false
  const { packages: have } = JSON.parse(present)
  /** @type {{ packages: Record<string, { version?: string, optional?: true, link?: true, inBundle?: true, extraneous?: true }> }} */
  const { packages: want } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(want).every(
    ([path, { version, ...kind }]) =>
      !path.startsWith('node_modules/') ||
      kind.optional ||
      kind.link ||
      kind.inBundle ||
      kind.extraneous ||
      have[path]?.version === version,
  )
}

/** @param {string[]} args */
function npm(args) {
  // Without node_modules/.bin, which `npm run` puts first, because npm ci is about to remove it.
  const PATH = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes('node_modules'))
    .join(delimiter)
  const env = { PATH, NODE_ENV: 'development' }
  // Standard output is reserved for the requested command.
  return run('npm', args, { env, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
}

/** @param {'build' | 'account'} part */
export function isBuilt(part) {
  return (
    OUTPUTS[part].every((file) => existsSync(join(root, file))) &&
    readText(join(root, `dist/.${part}-hash`)) === sourceHash(part)
  )
}

/** @param {'build' | 'account'} part */
export function sourceHash(part) {
  return hashOf(SOURCES[part])
}

/** @param {'build' | 'account'} part */
export async function ensureBuilt(part) {
  if (isBuilt(part)) return
  const args = ['scripts/build.ts', part, '--if-stale']
  const building = run(projectNode(), args, { stdio: ['ignore', 2, 2] })
  if ((await telling('Still building', building)) !== 0) fail('The build failed.')
}

/**
 * @param {string[]} paths
 * @param {string[]} extra
 */
function hashOf(paths, ...extra) {
  const hash = createHash('sha256').update(extra.join())
  for (const file of paths.flatMap(filesIn)) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesIn(path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false })
  if (!stats) return []
  return stats.isDirectory() ? filesBelow(path) : [path]
}

/**
 * Types come with the listing, because a stat of each file would take a fifth of the check.
 * @param {string} directory
 * @returns {string[]}
 */
function filesBelow(directory) {
  return readdirSync(join(root, directory), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${directory}/${entry.name}`
      if (entry.isDirectory()) return filesBelow(path)
      return /\.test\.tsx?$/.test(path) ? [] : [path]
    })
}

/** @param {string} file */
function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
