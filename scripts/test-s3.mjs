import { spawn } from 'node:child_process'
import { ensureInstalled, fail, root, tool, underProjectNode } from './ensure.mjs'
import { freePort, pythonCommand } from './python.mjs'

// npm run test:s3: the archive store against moto's S3 server, which checks signatures and permissions.
const MOTO = 'moto[server]==5.2.5'
const SKIPPED = 77

process.chdir(root)
await ensureInstalled()
await underProjectNode()
process.env.TZ ??= 'UTC'

const command = await pythonCommand(MOTO, 'moto_server', 'MOTO_SERVER')
if (!command) {
  process.stdout.write(`SKIPPED: ${MOTO} could not be installed. Set MOTO_SERVER to a moto_server to run it.\n`)
  process.exit(SKIPPED)
}
if ((await tool('prisma', ['generate'], { quiet: true })) !== 0) fail('The database client could not be generated.')
const port = await freePort()
const S3_TEST_ENDPOINT = `http://127.0.0.1:${port}`
// These four calls create a bucket and a user; after them every call must be signed and permitted.
const env = { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: '4' }
const server = spawn(command, ['-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore', env })
server.once('error', (error) => fail(`MOTO_SERVER could not be started: ${error.message}.`))
let code = 1
try {
  await answers(`${S3_TEST_ENDPOINT}/moto-api/`)
  const args = ['run', '--config', 'proof/load/vitest.config.ts', 'proof/load/s3.ts']
  code = await tool('vitest', args, { env: { S3_TEST_ENDPOINT, FAULTS_DIR: '.data/s3' } })
} finally {
  server.kill('SIGTERM')
}
process.exit(code)

async function answers(url) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 200))) {
    if (server.exitCode !== null) fail(`The S3 server ended with code ${server.exitCode}.`)
    if (
      await fetch(url)
        .then(({ ok }) => ok)
        .catch(() => false)
    )
      return
  }
  fail('The S3 server did not answer within 60 s.')
}
