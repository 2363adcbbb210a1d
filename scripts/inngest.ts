import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ensureBuilt } from './ensure.mjs'
import { runSuites } from './suites.ts'

const PROBE_MS = 20_000

/** Withdrawals driven by a real Inngest server (proof/service/inngest.ts). Without one it says why it runs nothing. */
export async function engineTests(): Promise<number> {
  const problem = await problemOfServer()
  if (problem) {
    process.stdout.write(`SKIPPED: ${problem}.\n`)
    return 0
  }
  await ensureBuilt('build')
  return runSuites('proof/service', ['proof/service/inngest.ts'], { FAULTS_DIR: '.data/inngest-test' })
}

/** Why no server is available; undefined where one is. */
async function problemOfServer(): Promise<string | undefined> {
  const { INNGEST_CLI } = process.env
  if (!INNGEST_CLI) {
    if (await answers('npx', ['--yes', 'inngest-cli', 'version'])) return undefined
    return 'no Inngest server here. Set INNGEST_CLI to an inngest binary, or make npx inngest-cli work'
  }
  if (existsSync(INNGEST_CLI)) process.env.INNGEST_CLI = resolve(INNGEST_CLI)
  if (await answers(process.env.INNGEST_CLI ?? INNGEST_CLI, ['version'])) return undefined
  return `INNGEST_CLI is no Inngest server that runs here: ${INNGEST_CLI}`
}

/** Whether the command succeeds in time: npm alone retries an unreachable registry for more than a minute. */
function answers(command: string, args: string[]): Promise<boolean> {
  const env = { ...process.env, npm_config_fetch_retries: '0', npm_config_fetch_timeout: '5000' }
  const child = spawn(command, args, { stdio: 'ignore', detached: true, env })
  const end = () => {
    try {
      // Ends the processes that npx has started, too.
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {}
  }
  const timer = setTimeout(end, PROBE_MS)
  return new Promise<boolean>((done) => {
    child.once('error', () => done(false))
    child.once('exit', (code) => done(code === 0))
  }).finally(() => clearTimeout(timer))
}
