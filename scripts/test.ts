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
  inngest: ['Withdrawals driven by a real engine', engineTests],
  e2e: ['Browser tests', browserTests],
  faults: ['Faults', () => onBuild('faults')],
  fuzz: ['Fuzz, short form', () => onBuild('proof/service', 'proof/service/fuzz.ts')],
}

process.env.TZ ??= 'UTC'

const asked = process.argv.slice(2)
if (asked.some((name) => name === '--help' || name === '-h')) {
  const parts = Object.entries(STAGES).map(([name, [title]]) => `  ${name.padEnd(10)}${title}`)
  process.stdout.write(`npm test -- [part …]; without a part it runs all of them.\n\n${parts.join('\n')}\n`)
  process.exit()
}
const unknown = asked.find((name) => !(name in STAGES))
if (unknown) fail(`There is no part "${unknown}"; the parts are ${Object.keys(STAGES).join(', ')}.`)
const beganAt = Date.now()
for (const [name, [title, stage]] of Object.entries(STAGES)) {
  if (asked.length && name !== 'generate' && !asked.includes(name)) continue
  process.stdout.write(`\n== ${title} ==\n`)
  const stageBegun = Date.now()
  if ((await stage()) !== 0) fail(`\nFailed: ${title} (npm test -- ${name}).`)
  process.stdout.write(`${title}: ${secondsSince(stageBegun)} s\n`)
}
process.stdout.write(`\nAll passed in ${secondsSince(beganAt)} s.\n`)

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
