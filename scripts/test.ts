import { browser } from './browser.ts'
import { ensureBuilt, fail, tool } from './ensure.mjs'
import { engineTests } from './inngest.ts'
import { runSuites } from './suites.ts'

// npm test -- [generate | types | lint | unit | inngest | e2e | faults | fuzz ...]; no name runs everything.
const STAGES: Record<string, [title: string, run: () => Promise<number>]> = {
  generate: ['Database client', () => tool('prisma', ['generate'], { quiet: true })],
  types: ['Types', () => tool('tsc', ['--noEmit'])],
  lint: ['Format and lint', () => tool('biome', ['check', '.'])],
  unit: ['Unit and integration tests', () => tool('vitest', ['run'])],
  e2e: ['Browser tests', browserTests],
  inngest: ['Withdrawals driven by a real engine', engineTests],
  faults: ['Faults', () => onBuild('faults')],
  fuzz: ['Fuzz, short form', () => onBuild('proof/service', 'proof/service/fuzz.ts')],
}

/** The first two wait most of the time, for leases, back-offs and due times, so that they run at once. */
const AT_ONCE = ['inngest', 'faults', 'fuzz']

process.env.TZ ??= 'UTC'

const wanted = process.argv.slice(2)
if (wanted.some((name) => name === '--help' || name === '-h')) {
  const parts = Object.entries(STAGES).map(([name, [title]]) => `  ${name.padEnd(10)}${title}`)
  process.stdout.write(`npm test -- [part …]; without a part it runs all of them.\n\n${parts.join('\n')}\n`)
  process.exit()
}
const unknown = wanted.find((name) => !(name in STAGES))
if (unknown) fail(`There is no part "${unknown}"; the parts are ${Object.keys(STAGES).join(', ')}.`)
const beganAt = Date.now()
const chosen = Object.keys(STAGES).filter((name) => !wanted.length || name === 'generate' || wanted.includes(name))
for (const name of chosen.filter((name) => !AT_ONCE.includes(name))) failWith([await failureOf(name)])
failWith(await Promise.all(chosen.filter((name) => AT_ONCE.includes(name)).map(failureOf)))
process.stdout.write(`\nAll passed in ${secondsSince(beganAt)} s.\n`)

/** Runs the part; undefined where it passed. */
async function failureOf(name: string): Promise<string | undefined> {
  const [title, run] = STAGES[name] as (typeof STAGES)[string]
  process.stdout.write(`\n== ${title} ==\n`)
  const startedAt = Date.now()
  if ((await run()) !== 0) return `Failed: ${title} (npm test -- ${name}).`
  process.stdout.write(`${title}: ${secondsSince(startedAt)} s\n`)
}

function failWith(failures: (string | undefined)[]) {
  const found = failures.filter((failure) => failure !== undefined)
  if (found.length) fail(`\n${found.join('\n')}`)
}

function secondsSince(beganAt: number) {
  return Math.round((Date.now() - beganAt) / 1000)
}

async function browserTests() {
  await ensureBuilt('build')
  return tool('playwright', ['test'], { env: await browser() })
}

async function onBuild(suite: string, ...files: string[]) {
  await ensureBuilt('build')
  return runSuites(suite, files)
}
