import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { ensureBuilt, root } from '../../scripts/ensure.mjs'
import { need, runSuites, skip } from '../../scripts/suites.ts'

// The clients that openapi-generator makes from the OpenAPI document run both flows. Exits with 77 without its tools.
const VERSION = '7.25.0'
const dir = path.join(root, '.data/clients')
const jar = path.join(dir, `openapi-generator-cli-${VERSION}.jar`)

need('java', 'mvn', 'go', 'python3')
mkdirSync(dir, { recursive: true })
if (!existsSync(jar)) {
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${VERSION}`
  const fetched = spawnSync('mvn', ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${dir}`], {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (fetched.status !== 0) skip('openapi-generator could not be fetched')
}
await ensureBuilt('build')
process.exit(await runSuites('lab', ['lab/clients/generated-clients.spec.ts'], { GENERATOR: jar }))
