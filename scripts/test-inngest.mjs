import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, fail, projectNode, root, run, underProjectNode } from './ensure.mjs'

// npm run test:inngest: one withdrawal end to end, driven by a real Inngest development server.
const ENGINE_PORT = 4398
const PORT = 4399

process.chdir(root)
await ensureInstalled()
await underProjectNode()

const cli = await findCli()
if (!cli) {
  process.stdout.write(
    'Did not run: no Inngest server here. Set INNGEST_CLI to an inngest binary, or make npx inngest-cli work.\n',
  )
  process.exit(0)
}
await ensureBuilt('build')
await ensureBuilt('account')
const DATA_DIR = await mkdtemp(join(tmpdir(), 'inngest-test-'))
const env = { ...process.env, DATA_DIR, NODE_ENV: 'production' }
const children = []
const start = (command, args, extra) =>
  children.push(spawn(command, args, { stdio: 'inherit', env: { ...env, ...extra } }))
try {
  const [command, ...args] = cli
  start(
    command,
    [...args, 'dev', '--no-discovery', '-p', `${ENGINE_PORT}`, '-u', `http://localhost:${PORT}/api/inngest`],
    {},
  )
  start(projectNode(), ['dist/server.mjs'], {
    PORT: `${PORT}`,
    INNGEST_DEV: '1',
    INNGEST_BASE_URL: `http://localhost:${ENGINE_PORT}`,
    WITHDRAWAL_TIME_SCALE: '0.0001',
  })
  await until('the service', 60, async () => (await fetch(`http://localhost:${PORT}/sign-in`)).ok)
  const { user_id } = await account('user', 'create', '--email', 'e@e.test', '--password', 'inngest', '--name', 'E')
  const { access_token } = await account('token', 'create', '--user', user_id, '--scope', 'account:manage')
  const base = `http://localhost:${PORT}/api/v1/users/${user_id}`
  const headers = {
    Authorization: `Bearer ${access_token}`,
    'X-Required-Scope': 'account:manage',
    'Content-Type': 'application/json',
  }
  const body = JSON.stringify({ confirmation: 'DELETE_MY_ACCOUNT' })
  const { data } = await (await fetch(`${base}/withdraw`, { method: 'POST', headers, body })).json()
  await until('the withdrawal', 180, async () => {
    const status = await (await fetch(`${base}/withdrawal/${data.withdrawal_id}`, { headers })).json()
    return status.data.status === 'completed'
  })
  process.stdout.write('Passed: the engine carried a withdrawal to its end.\n')
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(children.map((child) => child.exitCode ?? new Promise((resolve) => child.once('exit', resolve))))
  await rm(DATA_DIR, { recursive: true, force: true })
}

async function findCli() {
  const candidates = process.env.INNGEST_CLI ? [[process.env.INNGEST_CLI]] : [['npx', '--yes', 'inngest-cli']]
  for (const [command, ...args] of candidates) {
    const works = await run(command, [...args, 'version'], { quiet: true, timeout: 120_000 }).catch(() => 1)
    if (works === 0) return [command, ...args]
  }
  return null
}

function account(...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(projectNode(), ['dist/account.mjs', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.once('exit', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error('the operator command failed')),
    )
  })
}

async function until(what, seconds, check) {
  for (
    const end = Date.now() + seconds * 1000;
    Date.now() < end;
    await new Promise((resolve) => setTimeout(resolve, 500))
  ) {
    if (await check().catch(() => false)) return
  }
  fail(`Failed: ${what} did not come within ${seconds} s.`)
}
