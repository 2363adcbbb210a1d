import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { browser } from './browser.mjs'
import { begin, ensureBuilt, root, run, skip, tool } from './ensure.mjs'

// npm run test:accessibility: the journeys that look at the accessibility of pages, with a second engine beside axe. Exits with 77 where the
// engine cannot be installed.

await begin()

const directory = join(root, '.data/second-engine')
mkdirSync(directory, { recursive: true })
cpSync('e2e/second-engine/package.json', join(directory, 'package.json'))
const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund']
if ((await run('npm', install, { cwd: directory, quiet: true })) !== 0)
  skip('the package of e2e/second-engine/package.json cannot be installed here')

const chromium = await browser()
await ensureBuilt('build')
const journeys = readdirSync('e2e').filter(
  (file) => file.endsWith('.spec.ts') && readFileSync(join('e2e', file), 'utf8').includes('await expectAccessible('),
)
const env = {
  SECOND_ENGINE: join(directory, 'node_modules/accessibility-checker-engine/ace.js'),
  ...chromium,
}
process.exit(await tool('playwright', ['test', ...journeys, '--timeout', '300000', ...process.argv.slice(2)], { env }))
