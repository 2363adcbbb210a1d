import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ensureInstalled, fail, root, run, tool, underProjectNode } from './ensure.mjs'

// npm run test:s3: the archive store against moto's S3 server, which checks signatures and permissions.
const MOTO = 'moto[server]==5.2.5'
const SKIPPED = 77

process.chdir(root)
await ensureInstalled()
await underProjectNode()
process.env.TZ ??= 'UTC'

const command = await findServer()
if (typeof command !== 'string') {
  process.stdout.write(`SKIPPED: ${command.reason} Set MOTO_SERVER to a moto_server of ${MOTO} to run it.\n`)
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
  const args = ['run', '--config', 'proof/vitest.config.ts', 'proof/s3.ts']
  code = await tool('vitest', args, { env: { S3_TEST_ENDPOINT, FAULTS_DIR: '.data/s3' } })
} finally {
  server.kill('SIGTERM')
}
process.exit(code)

/** The path of moto_server. It is installed once below .data where Python is available. */
async function findServer() {
  if (process.env.MOTO_SERVER) {
    return existsSync(process.env.MOTO_SERVER) ? process.env.MOTO_SERVER : fail('MOTO_SERVER names no file.')
  }
  const venv = join(root, '.data/moto')
  const path = (name) => join(venv, process.platform === 'win32' ? `Scripts/${name}.exe` : `bin/${name}`)
  const marker = join(venv, MOTO)
  if (existsSync(marker)) return path('moto_server')
  const succeeds = async (name, ...args) => (await run(name, args, { quiet: true }).catch(() => 1)) === 0
  if (!(await succeeds('python3', '--version'))) return { reason: 'There is no Python here.' }
  process.stdout.write(`Installing ${MOTO} …\n`)
  if (!(await succeeds('python3', '-m', 'venv', '--clear', venv))) return { reason: 'Python cannot make a venv here.' }
  if (!(await succeeds(path('pip'), 'install', '--quiet', MOTO))) return { reason: `${MOTO} could not be installed.` }
  writeFileSync(marker, '')
  return path('moto_server')
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

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
