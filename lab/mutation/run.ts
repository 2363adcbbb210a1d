import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fail, projectNode, root, run, tool } from '../../scripts/ensure.mjs'
import { installBeside } from '../../scripts/install-beside.ts'
import { startEmbeddedPostgres } from '../../server/local/embedded-postgres.ts'
import { AREAS } from './stryker.config.ts'

// npm run lab -- mutation [an area of stryker.config.ts …]; no name runs everything. Stryker comes from npm when asked for.
process.env.TZ ??= 'UTC'

const chosen = process.argv.slice(2)
const unknown = chosen.find((area) => !(area in AREAS))
if (unknown) fail(`There is no area "${unknown}"; the areas are ${Object.keys(AREAS).join(', ')}.`)
for (const [area, { mutate, tests }] of Object.entries(AREAS)) {
  const missing = [...mutate, ...tests].find((glob) => !glob.startsWith('!') && globSync(glob).length === 0)
  if (missing) fail(`The area ${area} names ${missing}, which is not there.`)
}
if ((await tool('prisma', ['generate'], { quiet: true })) !== 0) fail('The database client could not be generated.')
// Without its peers, because it takes vitest from the project.
const directory = await installBeside('lab/mutation', '--legacy-peer-deps')
const stryker = join(directory, 'node_modules/@stryker-mutator/core/bin/stryker.js')
// Started here, because Stryker ends its workers before they have stopped the server that they share.
const server = await startEmbeddedPostgres({ dataDir: join(root, '.data/test') })
const weak = []
for (const area of Object.keys(AREAS)) {
  if (chosen.length && !chosen.includes(area)) continue
  process.stdout.write(`\n== ${area} ==\n`)
  if (
    (await run(projectNode(), [stryker, 'run', 'lab/mutation/stryker.config.ts'], {
      env: { MUTATION_AREA: area },
    })) !== 0
  )
    weak.push(area)
}
await server.stop()
if (weak.length) fail(`\nBelow 80 %, or failed: ${weak.join(', ')}. Reports: .data/mutation-*.html`)
