import { spawn } from 'node:child_process'
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureBuilt, ensureInstalled, fail, projectNode, root, run, underProjectNode } from './ensure.mjs'
import { freePort, pythonCommand } from './python.mjs'

// npm run test:schemathesis: the running service against its own OpenAPI document, with Schemathesis from PyPI.
const PACKAGE = 'schemathesis==4.32.5'
/** The exit code where Schemathesis is not available. */
const SKIPPED = 77
const EXAMPLES = process.env.SCHEMATHESIS_EXAMPLES || '100'
const SEED = process.env.SCHEMATHESIS_SEED || String(Math.floor(Math.random() * 2 ** 31))
/** The password in the OpenAPI document's examples, so that they succeed. */
const PASSWORD = 'correct horse battery'
const EXTERNAL_ID = 'customer-42'
/** The host of the links in the examples. */
const HOST = 'billing.example.com'

process.chdir(root)
await ensureInstalled()
await underProjectNode()

const schemathesis = await pythonCommand(PACKAGE, 'schemathesis', 'SCHEMATHESIS')
if (!schemathesis) {
  process.stdout.write(
    'SKIPPED: there is no Schemathesis here. Set SCHEMATHESIS to its command, or install Python 3 with venv and reach PyPI.\n',
  )
  process.exit(SKIPPED)
}
await ensureBuilt('build')
await ensureBuilt('account')

const DATA_DIR = await mkdtemp(join(tmpdir(), 'schemathesis-'))
const port = await freePort()
const url = `http://localhost:${port}`
const limits = ['EMAIL_CHANGE', 'EMAIL_PASSWORD', 'EMAIL_PASSWORD_DAY', 'EMAIL_TAKEN', 'EMAIL_TARGET', 'EMAIL_VERIFY']
  .concat(['WITHDRAW', 'READ', 'SERVICE', 'SIGN_IN'])
  .flatMap((name) => [
    [`${name}_LIMIT`, '1000000'],
    [`${name}_WINDOW`, 'PT1S'],
  ])
const env = {
  PATH: process.env.PATH,
  NODE_ENV: 'production',
  DATA_DIR,
  PORT: String(port),
  EMAIL_TARGET_MAIL_LIMIT: '1000000',
  SIGN_IN_ADDRESS_LIMIT: '1000000',
  ...Object.fromEntries(limits),
}
const logFile = join(DATA_DIR, 'service.log')
const service = spawn(projectNode(), ['dist/server.mjs'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
const ended = new Promise((resolve) => service.once('exit', resolve))
const log = createWriteStream(logFile)
service.stdout.pipe(log)
service.stderr.pipe(log)

let code = 1
try {
  await until('the service', 120, async () => (await fetch(`${url}/sign-in`)).ok)
  const email = 'schemathesis@example.test'
  const { user_id: userId } = await account('user', 'create', '--email', email, '--password', PASSWORD, '--name', 'S')
  const scopes = ['--scope', 'email:manage', '--scope', 'account:manage']
  const { access_token: accessToken } = await account('token', 'create', '--user', userId, ...scopes)
  // A confirmation that happens to be right must not withdraw the account.
  await account('transaction', 'add', '--user', userId, '--status', 'pending')
  const config = join(DATA_DIR, 'schemathesis.toml')
  await writeFile(config, configFor({ userId, sessionId: (await signIn(email)).sessionId }))
  const codes = [await checkAdmin(config)]
  codes.push(await check(config, accessToken, ['--include-tag', 'Email', '--include-tag', 'Account']))
  const { accessToken: sessionToken } = await signIn(email)
  codes.push(
    await withTokensRevoked(userId, sessionToken, () => check(config, sessionToken, ['--include-tag', 'Access'])),
  )
  code = Math.max(...codes)
  if (service.exitCode !== null) fail('Failed: the service has ended.')
  if (readFileSync(logFile, 'utf8').includes('"unexpected_error"'))
    fail('Failed: the service logged an unexpected error.')
} finally {
  service.kill('SIGTERM')
  await ended
  await rm(DATA_DIR, { recursive: true, force: true })
}
process.stdout.write(code === 0 ? '\nPassed: Schemathesis.\n' : `\nFailed: Schemathesis (SCHEMATHESIS_SEED=${SEED}).\n`)
process.exit(code)

/**
 * Configuration of the run. A call that its schema allows may still be refused for the state of the service: wrong password, unknown id,
 * used key, limit. A 400 would be an undescribed bound, except for a well-formed wrong code. The run must not end its own session.
 */
function configFor({ userId, sessionId }) {
  const refusals = [401, 403, 404, 409, 410, 422, 429, 503]
  const accepted = (statuses) => `positive_data_acceptance.expected-statuses = ["2xx", ${statuses.join(', ')}]`
  return `
[parameters]
"path.userId" = "${userId}"
"path.externalId" = "${EXTERNAL_ID}"
[checks]
${accepted(refusals)}
# What is too large is refused before anything looks at it.
negative_data_rejection.expected-statuses = [400, 405, 406, 413, 415, 428, 431, ${refusals.join(', ')}]
# Node's parser refuses a query that is too large, before the service sees it.
[[operations]]
include-operation-id = "previewWithdrawal"
[operations.checks]
status_code_conformance.enabled = false
# The hosts of the service token and the time of the call are no matter of the schema.
[[operations]]
include-operation-id = "putBlocker"
[operations.checks]
${accepted([400, ...refusals])}
[[operations]]
include-operation-id = "verifyEmail"
[operations.checks]
${accepted([400, ...refusals])}
# The token is that of no link.
[[operations]]
include-operation-id = "getPasswordReset"
[operations.checks]
${accepted([400, ...refusals])}
[[operations]]
include-operation-id = "confirmPasswordReset"
[operations.checks]
${accepted([400, ...refusals])}
# A known format, and an address that stays verified, are no matter of the schema.
[[operations]]
include-operation-id = "putUser"
[operations.checks]
${accepted([400, ...refusals])}
[[operations]]
include-operation-id = "endSession"
[operations.parameters]
"path.userId" = "${userId}"
"path.sessionId" = "${sessionId}"
`
}

/** The calls of services, about an account that no withdrawal can take. */
async function checkAdmin(config) {
  const scopes = ['users:read', 'users:write', 'withdrawals:start'].flatMap((scope) => ['--scope', scope])
  const named = ['--name', 'schemathesis', '--host', HOST]
  const { service_token: token } = await account('service-token', 'create', ...named, ...scopes)
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const made = await fetch(`${url}/api/v1/admin/users/${EXTERNAL_ID}`, {
    method: 'PUT',
    headers: { ...headers, 'X-Required-Scope': 'users:write' },
    body: JSON.stringify({ email: 'customer@example.test', name: 'Customer' }),
  })
  const { data } = await made.json()
  await account('transaction', 'add', '--user', data.user_id, '--status', 'pending')
  return check(config, token, ['--include-tag', 'Users'])
}

function check(config, token, which) {
  const options = ['--max-examples', EXAMPLES, '--seed', SEED, '--continue-on-failure', '--no-color', ...which]
  const headers = ['-H', `Authorization: Bearer ${token}`]
  return run(schemathesis, ['--config-file', config, 'run', `${url}/api/v1/openapi.json`, ...headers, ...options], {
    cwd: DATA_DIR,
  })
}

/** Revokes the tokens that the run creates, because an account may have a hundred at most. */
async function withTokensRevoked(userId, token, work) {
  const headers = { Authorization: `Bearer ${token}`, 'X-Required-Scope': 'tokens:manage' }
  const tokens = `${url}/api/v1/users/${userId}/access-tokens`
  const revokeAll = async () => {
    const { data } = await (await fetch(tokens, { headers })).json()
    for (const { token_id } of data.access_tokens) await fetch(`${tokens}/${token_id}`, { method: 'DELETE', headers })
  }
  const working = work()
  for (let isOver = false; !isOver; ) {
    await revokeAll()
    isOver = await Promise.race([working.then(() => true), sleep(100, false)])
  }
  return working
}

/** Signs in as the page does, because some operations need the token of a browser session. */
async function signIn(email) {
  const csrf = await fetch(`${url}/api/auth/csrf`)
  const { csrfToken } = await csrf.json()
  const signedIn = await fetch(`${url}/api/auth/callback/credentials`, {
    method: 'POST',
    headers: { Cookie: cookiesOf(csrf) },
    body: new URLSearchParams({ csrfToken, email, password: PASSWORD, json: 'true' }),
    redirect: 'manual',
  })
  const session = await fetch(`${url}/api/auth/session`, { headers: { Cookie: cookiesOf(signedIn) } })
  return session.json()
}

function cookiesOf({ headers }) {
  const cookies = headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
  return cookies.join('; ')
}

function account(...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(projectNode(), ['dist/account.mjs', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.once('exit', (exit) => {
      if (exit === 0) resolve(JSON.parse(text))
      else reject(new Error(`the operator command ${args.slice(0, 2).join(' ')} failed`))
    })
  })
}

async function until(what, seconds, probe) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(200)) {
    if (await probe().catch(() => false)) return
    if (service.exitCode !== null) break
  }
  throw new Error(`${what} did not come within ${seconds} s:\n${readFileSync(logFile, 'utf8')}`)
}
