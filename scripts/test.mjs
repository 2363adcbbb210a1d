import { browser } from './browser.mjs'
import { begin, ensureBuilt, fail, run, runSuites, SKIPPED, tool } from './ensure.mjs'

// node scripts/test.mjs [generate | types | lint | unit | inngest | e2e | faults | fuzz ...]; no name runs everything.
const STAGES = {
  generate: ['Database client', () => tool('prisma', ['generate'], { quiet: true })],
  types: ['Types', () => tool('tsc', ['--noEmit'])],
  lint: ['Format and lint', () => tool('biome', ['check', '.'])],
  unit: ['Unit and integration tests', () => tool('vitest', ['run'])],
  inngest: ['Withdrawals driven by a real engine', engineTests],
  e2e: ['Browser tests', browserTests],
  faults: ['Faults, short form', () => short('faults')],
  fuzz: ['Fuzz, short form', () => short('proof/load', 'proof/load/fuzz.ts')],
}

await begin()
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

function secondsSince(beganAt) {
  return Math.round((Date.now() - beganAt) / 1000)
}

/** The script exits with 77 when no engine is available, after it printed why. */
async function engineTests() {
  const code = await run(process.execPath, ['scripts/test-inngest.mjs'])
  return code === SKIPPED ? 0 : code
}

async function browserTests() {
  await ensureBuilt('build')
  return tool('playwright', ['test'], { env: await browser() })
}

/** The short form of test:faults and test:fuzz. */
async function short(suite, ...files) {
  await ensureBuilt('build')
  return runSuites(suite, files, { SHORT: '1' })
}
