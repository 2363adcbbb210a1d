import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { begin, ensureBuilt, runSuites, skip } from './ensure.mjs'

// npm run test:inngest: withdrawals driven by a real Inngest server (proof/load/inngest.ts). Exits with 77 where no server is available.
const PROBE_MS = 20_000

await begin()

const problem = await problemOfServer()
if (problem) skip(problem)
await ensureBuilt('build')
process.exit(await runSuites('proof/load', ['proof/load/inngest.ts'], { FAULTS_DIR: '.data/inngest-test' }))

/** Why no server is available; undefined where one is. */
async function problemOfServer() {
  const { INNGEST_CLI } = process.env
  if (!INNGEST_CLI) {
    if (await answers('npx', ['--yes', 'inngest-cli', 'version'])) return undefined
    return 'no Inngest server here. Set INNGEST_CLI to an inngest binary, or make npx inngest-cli work'
  }
  if (existsSync(INNGEST_CLI)) process.env.INNGEST_CLI = resolve(INNGEST_CLI)
  if (await answers(process.env.INNGEST_CLI, ['version'])) return undefined
  return `INNGEST_CLI is no Inngest server that runs here: ${INNGEST_CLI}`
}

/** Whether the command succeeds in time: npm alone retries an unreachable registry for more than a minute. */
function answers(command, args) {
  const env = { ...process.env, npm_config_fetch_retries: '0', npm_config_fetch_timeout: '5000' }
  const child = spawn(command, args, { stdio: 'ignore', detached: true, env })
  const end = () => {
    try {
      // Ends the processes that npx has started, too.
      process.kill(-child.pid, 'SIGKILL')
    } catch {}
  }
  const timer = setTimeout(end, PROBE_MS)
  return new Promise((done) => {
    child.once('error', () => done(false))
    child.once('exit', (code) => done(code === 0))
  }).finally(() => clearTimeout(timer))
}
