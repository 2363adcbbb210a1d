import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { browser } from './browser.mjs'
import { begin, ensureBuilt, fail, root, run, skip, tool } from './ensure.mjs'

// npm run test:hosts: the parts of the package in a page of Express, Vite, Vue and Next, built and driven. Exits with 77 where their packages
// cannot be installed.

await begin()

const directory = join(root, '.data/hosts')
mkdirSync(directory, { recursive: true })
cpSync('e2e/hosts/package.json', join(directory, 'package.json'))
const npm = (...args) => run('npm', [...args, '--no-audit', '--no-fund'], { cwd: directory, quiet: true })
if ((await npm('install')) !== 0) skip('the packages of e2e/hosts/package.json cannot be installed here')
if ((await run(process.execPath, ['scripts/pack-client.mjs', directory], { quiet: true })) !== 0) fail('No package.')
const { name, version } = (await import('../package.json', { with: { type: 'json' } })).default
if ((await npm('install', '--no-save', `./${name}-${version}.tgz`)) !== 0) fail('The package cannot be installed.')

const env = await browser()
await ensureBuilt('build')
rmSync('.data/e2e-hosts', { recursive: true, force: true })
process.exit(await tool('playwright', ['test', '--config', 'e2e/hosts/playwright.config.ts'], { env }))
