import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/local/embedded-postgres.ts'
import { ensureBuilt, isAnswered, note, projectNode, stopWithNpm } from './ensure.mjs'

// The service and examples/shop beside it. The day from the start of a withdrawal to its last step passes in a minute and a half.
await ensureBuilt('build')

const given = process.env
const dataDir = given.DATA_DIR || '.data/demo'
const port = given.PORT || '3000'
const shopPort = given.SHOP_PORT || '3100'
const serviceUrl = `http://localhost:${port}`
const shopUrl = `http://localhost:${shopPort}`

let ending: Promise<never> | undefined
const running = new Map<ChildProcess, Promise<unknown>>()
const postgres = await startEmbeddedPostgres({ dataDir })
const log = openSync(join(dataDir, 'demo.log'), 'a')
const settings = {
  DATABASE_URL: '',
  DATA_DIR: dataDir,
  PORT: port,
  PRODUCT_NAME: 'Corner Shop',
  WITHDRAWAL_TIME_SCALE: given.WITHDRAWAL_TIME_SCALE || '0.001',
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(0))
stopWithNpm(() => end(0))

const { signing_secret = '', service_token = '' } = await register()
start('The account service', 'scripts/start.mjs', settings, () => end(1))
await untilAnswered(`${serviceUrl}/api/health/ready`)
startShop(await createShopDatabase())
await untilAnswered(shopUrl)
note(`
  the account service   ${serviceUrl}   its mail: ${serviceUrl}/dev/mailbox
  the shop              ${shopUrl}

  1. Open the shop. Mia has one order that is not paid.
  2. Sign in to the service with mia@example.com and "correct horse battery", and open Delete account: the order holds it back.
  3. Press Pay in Corner Shop, and pay the order there. The page notices within 20 seconds. Delete the account.
  4. Watch both pages for two minutes. The shop deletes order by order and keeps the invoices. It starts again if you kill it.

A deletion runs ${Math.round(1 / Number(settings.WITHDRAWAL_TIME_SCALE))} times as fast here: what is kept for 30 days is gone sooner than the pages say.
Ctrl-C ends both. Everything is below ${dataDir}: remove that to begin anew.
`)

/** Once for each data directory. */
async function register(): Promise<Record<string, string>> {
  const file = join(dataDir, 'shop.json')
  const endpoint = `http://127.0.0.1:${shopPort}/account-messages`
  const known = existsSync(file) && JSON.parse(readFileSync(file, 'utf8'))
  if (known) {
    await account(`app set ${known.app_id} --endpoint ${endpoint} --host localhost:${shopPort}`)
    return known
  }
  const [token, app] = await account(
    'service-token create --name shop --scope users:write --scope users:read',
    `app register --name 'Corner Shop' --endpoint ${endpoint} --audience everyone --acknowledges later --checks --confirms --host localhost:${shopPort}
       --event account.email_changed --event account.email_reverted --event account.withdrawal_started --include addresses
       --category invoices --reason 'tax law'`,
  )
  writeFileSync(file, JSON.stringify({ ...token, ...app }), { mode: 0o600 })
  return { ...token, ...app }
}

async function account(...commands: string[]): Promise<Record<string, string>[]> {
  const child = spawn(projectNode(), ['scripts/account.mjs', 'batch'], {
    env: { ...given, ...settings },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(commands.map((command) => `${command.replaceAll('\n', ' ')}\n`).join(''))
  const lines: string[] = (await text(child.stdout)).trim().split('\n')
  const answers = lines.map((line) => JSON.parse(line || '{"error":"The operator command gave no answer."}'))
  const refused = answers.find(({ error }) => error)
  if (!refused) return answers
  note(refused.error)
  return end(1)
}

async function createShopDatabase() {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const { rowCount } = await client.query(`SELECT FROM pg_database WHERE datname = 'shop'`)
  if (!rowCount) await client.query('CREATE DATABASE shop')
  await client.end()
  return Object.assign(new URL(postgres.url), { pathname: '/shop' }).href
}

function startShop(DATABASE_URL: string) {
  const env = {
    DATABASE_URL,
    PORT: shopPort,
    BASE_URL: serviceUrl,
    SHOP_URL: shopUrl,
    SERVICE_TOKEN: service_token,
    SIGNING_SECRET: signing_secret,
  }
  start('The shop', 'examples/shop/shop.ts', env, async (wasKilled) => {
    if (!wasKilled) return end(1)
    note('The shop was killed. It starts again in three seconds.')
    await sleep(3000)
    startShop(DATABASE_URL)
  })
}

/** In a process group of its own, so that Ctrl-C reaches it once, from here; it also ends when the ipc channel closes. */
function start(
  name: string,
  script: string,
  env: Record<string, string>,
  onExit: (wasKilled: boolean) => Promise<unknown>,
) {
  if (ending) return
  const child = spawn(projectNode(), [script], {
    detached: process.platform !== 'win32',
    stdio: ['ignore', log, 'inherit', 'ipc'],
    env: { ...given, ...env },
  })
  running.set(child, new Promise((ended) => child.once('exit', ended)))
  note(`${name} runs as process ${child.pid}`)
  child.once('exit', (_code, signal) => {
    running.delete(child)
    if (!ending) onExit(signal !== null)
  })
}

async function untilAnswered(url: string) {
  while (!(await isAnswered(url))) await (ending ?? sleep(200))
}

/** Never resolves, because the process ends. */
function end(code: number): Promise<never> {
  ending ??= stopAll().then(() => process.exit(code))
  return ending
}

async function stopAll() {
  const ended = [...running.values()]
  for (const child of running.keys()) child.kill('SIGTERM')
  await Promise.all(ended)
  await postgres.stop()
}
