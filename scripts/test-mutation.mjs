import { join } from 'node:path'
import { ensureInstalled, fail, projectNode, root, run, tool, underProjectNode } from './ensure.mjs'

// node scripts/test-mutation.mjs [an area of stryker.config.mjs ...]; no name runs everything.
process.chdir(root)
await ensureInstalled()
await underProjectNode()
process.env.TZ ??= 'UTC'
const { AREAS } = await import('../stryker.config.mjs')

const asked = process.argv.slice(2)
const unknown = asked.find((area) => !(area in AREAS))
if (unknown) fail(`There is no area "${unknown}"; the areas are ${Object.keys(AREAS).join(', ')}.`)
if ((await tool('prisma', ['generate'], { quiet: true })) !== 0) fail('The database client could not be generated.')
const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js')
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
