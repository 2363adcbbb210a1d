import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, fail, projectNode, root, run, tool, underProjectNode } from './ensure.mjs'

// node scripts/test-mutation.mjs [an area of stryker.config.mjs ...]; no name runs everything. Stryker comes from npm when asked for.
const STRYKER = ['@stryker-mutator/core@10.1.1', '@stryker-mutator/vitest-runner@10.1.1']

process.chdir(root)
await ensureInstalled()
await underProjectNode()
process.env.TZ ??= 'UTC'
const { AREAS } = await import('../stryker.config.mjs')

const asked = process.argv.slice(2)
const unknown = asked.find((area) => !(area in AREAS))
if (unknown) fail(`There is no area "${unknown}"; the areas are ${Object.keys(AREAS).join(', ')}.`)
if ((await tool('prisma', ['generate'], { quiet: true })) !== 0) fail('The database client could not be generated.')
const directory = join(root, '.data/stryker')
mkdirSync(directory, { recursive: true })
writeFileSync(join(directory, 'package.json'), '{ "private": true }')
// Without its peers, because it takes vitest from the project.
const install = ['install', '--no-save', '--no-package-lock', '--legacy-peer-deps', '--loglevel=error', ...STRYKER]
if ((await run('npm', install, { cwd: directory })) !== 0) fail('Stryker could not be installed.')
const stryker = join(directory, 'node_modules/@stryker-mutator/core/bin/stryker.js')
// Started here, because Stryker ends its workers before they have stopped the server that they share.
const { startEmbeddedPostgres } = await import('../server/local/embedded-postgres.ts')
const server = await startEmbeddedPostgres({ dataDir: join(root, '.data/test') })
const weak = []
for (const area of Object.keys(AREAS)) {
  if (asked.length && !asked.includes(area)) continue
  process.stdout.write(`\n== ${area} ==\n`)
  if ((await run(projectNode(), [stryker, 'run'], { env: { MUTATION_AREA: area } })) !== 0) weak.push(area)
}
await server.stop()
if (weak.length) fail(`\nBelow 80 %, or failed: ${weak.join(', ')}. Reports: .data/mutation-*.html`)
