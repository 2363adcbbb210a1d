import { existsSync } from 'node:fs'
import { ensureBuilt, ensureInstalled, fail, root, run, tool, underProjectNode } from './ensure.mjs'

// node scripts/test.mjs [generate | types | lint | unit | inngest | e2e ...]; no name runs everything.
const STAGES = {
  generate: ['Database client', () => tool('prisma', ['generate'], { quiet: true })],
  types: ['Types', () => tool('tsc', ['--noEmit'])],
  lint: ['Format and lint', () => tool('biome', ['check', '.'])],
  unit: ['Unit and integration tests', () => tool('vitest', ['run'])],
  inngest: ['Withdrawals driven by a real engine', engineTests],
  e2e: ['Browser tests', browserTests],
}

process.chdir(root)
await ensureInstalled()
await underProjectNode()
process.env.TZ ??= 'UTC'

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !(name in STAGES))
if (unknown) fail(`There is no part "${unknown}"; the parts are ${Object.keys(STAGES).join(', ')}.`)
for (const [name, [title, stage]] of Object.entries(STAGES)) {
  if (asked.length && name !== 'generate' && !asked.includes(name)) continue
  process.stdout.write(`\n== ${title} ==\n`)
  if ((await stage()) !== 0) fail(`\nFailed: ${title} (npm test -- ${name}).`)
}
process.stdout.write('\nAll passed.\n')

/** 77 says that no engine can be had here, and the script has printed why. */
async function engineTests() {
  const code = await run(process.execPath, ['scripts/test-inngest.mjs'])
  return code === 77 ? 0 : code
}

async function browserTests() {
  const CHROMIUM_PATH = await findBrowser()
  await ensureBuilt('build')
  return tool('playwright', ['test'], { env: CHROMIUM_PATH ? { CHROMIUM_PATH } : { PLAYWRIGHT_USE_BUNDLED: '1' } })
}

/** Gives the path of a Chromium, or undefined for the one Playwright has installed itself. */
async function findBrowser() {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH) {
    return existsSync(CHROMIUM_PATH) ? CHROMIUM_PATH : fail(`CHROMIUM_PATH names no file: ${CHROMIUM_PATH}`)
  }
  const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)
  if (system) return system
  process.stdout.write('No browser found, installing one …\n')
  const { chromium } = await import('@playwright/test')
  if (existsSync(chromium.executablePath())) return undefined
  if ((await tool('playwright', ['install', 'chromium'], { quiet: true, timeout: 300_000 })) === 0) return undefined
  const admin = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    const [command, ...rest] = [...admin, 'apt-get', ...args]
    await run(command, rest, { quiet: true, env: { DEBIAN_FRONTEND: 'noninteractive' } }).catch(() => {})
  }
  if (existsSync('/usr/bin/chromium')) return '/usr/bin/chromium'
  return fail('No browser: install Chromium (apt-get install chromium) or set CHROMIUM_PATH.')
}
