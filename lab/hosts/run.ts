import { rmSync } from 'node:fs'
import product from '../../package.json' with { type: 'json' }
import { browser } from '../../scripts/browser.ts'
import { ensureBuilt, fail, run, tool } from '../../scripts/ensure.mjs'
import { installBeside } from '../../scripts/install-beside.ts'

// The parts of the package in a page of Express, Vite, Vue and Next, built and driven. Exits with 77 where their packages
// cannot be installed.

const directory = await installBeside('lab/hosts')
if ((await run(process.execPath, ['scripts/pack-client.ts', directory], { quiet: true })) !== 0) fail('No package.')
const install = ['install', '--no-save', '--no-audit', '--no-fund', `./${product.name}-${product.version}.tgz`]
if ((await run('npm', install, { cwd: directory, quiet: true })) !== 0) fail('The package cannot be installed.')

const env = await browser()
await ensureBuilt('build')
rmSync('.data/e2e-hosts', { recursive: true, force: true })
process.exit(await tool('playwright', ['test', '--config', 'lab/hosts/playwright.config.ts'], { env }))
