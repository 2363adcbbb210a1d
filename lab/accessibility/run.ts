import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { browser } from '../../scripts/browser.ts'
import { ensureBuilt, tool } from '../../scripts/ensure.mjs'
import { installBeside } from '../../scripts/install-beside.ts'

// The journeys that look at the accessibility of pages, with a second engine beside axe. Exits with 77 where the
// engine cannot be installed.

const directory = await installBeside('lab/accessibility', '--ignore-scripts')
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
