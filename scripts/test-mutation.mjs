import { join } from 'node:path'
import { begin, fail, installBeside, projectNode, root, run, tool } from './ensure.mjs'

// node scripts/test-mutation.mjs [an area of stryker.config.mjs ...]; no name runs everything. Stryker comes from npm when asked for.
const STRYKER = ['@stryker-mutator/core@10.1.1', '@stryker-mutator/vitest-runner@10.1.1']

await begin()
process.env.TZ ??= 'UTC'
const { AREAS } = await import('../stryker.config.mjs')

const asked = process.argv.slice(2)
const unknown = asked.find((area) => !(area in AREAS))
if (unknown) fail(`There is no area "${unknown}"; the areas are ${Object.keys(AREAS).join(', ')}.`)
if ((await tool('prisma', ['generate'], { quiet: true })) !== 0) fail('The database client could not be generated.')
// Without its peers, because it takes vitest from the project.
const directory = await installBeside('stryker', '--legacy-peer-deps', ...STRYKER)
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
