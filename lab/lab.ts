import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { ensureBuilt, fail, root, tool } from '../scripts/ensure.mjs'
import { runSuites } from '../scripts/suites.ts'

// npm run lab -- <name> [words for it]. README.md says what each of them needs and takes.
const [name = '', ...words] = process.argv.slice(2)

/** Resolves with an exit code, or with what a program leaves that ends the process itself. */
type Run = () => Promise<unknown>

/** Tests, in the folder of a configuration; words choose among the files. */
const suite = (folder: string, files: string[], env?: Record<string, string>): Run => {
  return built(() => runSuites(folder, [...files, ...words], env))
}

const built =
  (run: Run): Run =>
  async () => {
    await ensureBuilt('build')
    return run()
  }

/** The models against the domain: `words` are the number of runs. */
const models: Run = () =>
  tool('vitest', ['run', 'proof/models'], { env: { PROOF_RUNS: words[0] ?? '1000', TZ: 'UTC' } })

/** It measures the domain itself, whose files Node alone cannot load. */
const benchWork: Run = async () => {
  const outfile = `${root}dist/bench-work.mjs`
  await build({
    absWorkingDir: root,
    entryPoints: ['lab/bench/work.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    alias: { 'server-only': `${root}node_modules/server-only/empty.js` },
    jsx: 'automatic',
    outfile,
    logLevel: 'warning',
  })
  return import(pathToFileURL(outfile).href)
}

const EXPERIMENTS: Record<string, [shows: string, run: Run]> = {
  faults: ['kills, full disks, outages, restores and rolling restarts', suite('lab/faults', [])],
  failover: ['failovers of a real cluster', () => import('./histories/run.ts').then(({ judge }) => judge('failover'))],
  histories: [
    '100,000 calls and one order',
    () => import('./histories/run.ts').then(({ judge }) => judge('histories')),
  ],
  models: ['the models of proof/models, many more runs', models],
  model: ['the Alloy model of an account', () => import('./model/run.ts')],
  fuzz: ['the long fuzz', built(() => runSuites('proof/service', ['proof/service/fuzz.ts'], { LONG: '1' }))],
  soak: ['ten minutes of everything at once', suite('lab', ['lab/load/soak.spec.ts'])],
  timing: ['whether the time of an answer tells', suite('lab', ['lab/load/timing.spec.ts'])],
  'slow-clients': ['clients that send and read slowly', suite('lab', ['lab/load/slow-clients.spec.ts'])],
  bounces: ['bounces of real mail servers', () => import('./bounces/run.ts')],
  mutation: ['whether the tests notice changed code', () => import('./mutation/run.ts')],
  clients: ['generated clients', () => import('./clients/run.ts')],
  receivers: [
    'the receivers of examples/',
    () => tool('vitest', ['run', 'examples/receivers'], { env: { RECEIVER_LANGUAGES: 'Python, Go', TZ: 'UTC' } }),
  ],
  openapi: ['the OpenAPI document by two linters', () => import('./openapi/run.ts')],
  engines: ['Firefox and WebKitGTK', () => import('./engines/run.ts')],
  hosts: ['the parts in pages of four frameworks', () => import('./hosts/run.ts')],
  accessibility: ['a second engine beside axe', () => import('./accessibility/run.ts')],
  picture: ['the picture of the README, made anew', built(() => import('./picture.ts'))],
  image: ['the image: size, digest, journeys', built(() => import('./image/run.ts'))],
  chart: ['the chart for each Kubernetes', () => import('./chart/run.ts')],
  upgrade: ['the last release beside this one', built(() => import('./upgrade/run.ts'))],
  'supply-chain': ['known holes, licences, bill of materials', built(() => import('./supply-chain/run.ts'))],
  'bench-api': ['calls a second beside a floor', built(() => import('./bench/api.ts'))],
  'bench-start': ['the time to the first answer', built(() => import('./bench/start.ts'))],
  'bench-work': ['due work, erasure, import, deliveries', benchWork],
}

const [, run] = EXPERIMENTS[name] ?? []
if (!run) {
  const all = Object.entries(EXPERIMENTS).map(([known, [shows]]) => `  ${known.padEnd(15)}${shows}`)
  fail(`npm run lab -- <name> [words for it]\n\n${all.join('\n')}`)
}
process.argv.splice(2, 1)
const code = await run()
if (typeof code === 'number') process.exit(code)
