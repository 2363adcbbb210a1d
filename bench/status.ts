import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import autocannon from 'autocannon'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/embedded-postgres.ts'

/** `npm run bench:status`: GET …/email/status with a bearer token, 16 connections, over 10,000 users on a fresh database. */
const USERS = 10_000
const CONNECTIONS = 16
const ROUNDS = 5
const SECONDS = 5
const PORT = 4390
const DATA_DIR = '.data/bench'

await rm(DATA_DIR, { recursive: true, force: true })
const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR })
const service = spawn(process.execPath, ['dist/server.mjs'], {
  env: {
    ...process.env,
    NODE_ENV: 'production',
    PORT: String(PORT),
    DATA_DIR,
    DATABASE_URL: postgres.url,
    LOG_LEVEL: 'warn',
    READ_LIMIT: '999999999',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
await new Promise<void>((resolve) => service.stdout.on('data', (chunk) => String(chunk).includes('Ready') && resolve()))

const db = new pg.Client({ connectionString: postgres.url })
await db.connect()
await db.query(
  `INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
   SELECT 'usr_bench' || n, 'Bench', 'u' || n || '@example.test', 'u' || n || '@example.test', now(), 'none', now()
   FROM generate_series(1, $1::int) n`,
  [USERS],
)
const token = (n: number) => `uat_${String(n).padStart(43, 'a')}`
await db.query(
  `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at, last_used_at)
   SELECT 'tok_bench' || n, 'usr_bench' || n, 'bench', sha256(convert_to('uat_' || lpad(n::text, 43, 'a'), 'UTF8')),
          ARRAY['email:manage'], now(), now() + interval '1 day', now() + interval '1 hour'
   FROM generate_series(1, $1::int) n`,
  [USERS],
)
await db.query('ANALYZE')

const requests = Array.from({ length: USERS }, (_, index) => ({
  path: `/api/v1/users/usr_bench${index + 1}/email/status`,
  headers: { Authorization: `Bearer ${token(index + 1)}`, 'X-Required-Scope': 'email:manage' },
}))
const run = (duration: number) =>
  autocannon({ url: `http://127.0.0.1:${PORT}`, connections: CONNECTIONS, duration, requests })

await run(SECONDS)
const results: { perSecond: number; p50: number; p99: number; failed: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  const { requests: rate, latency, non2xx, errors } = await run(SECONDS)
  results.push({ perSecond: rate.average, p50: latency.p50, p99: latency.p99, failed: non2xx + errors })
}

// Statements are counted by PostgreSQL itself, in its log, over calls made one after the other.
const SAMPLE = 200
await logStatements('all')
for (const { path, headers } of requests.slice(0, SAMPLE)) await fetch(`http://127.0.0.1:${PORT}${path}`, { headers })
await logStatements('none')
const executed = (await readFile(`${DATA_DIR}/pg.log`, 'utf8')).matchAll(/execute ([a-z-]+):/g)
const byName = Map.groupBy(executed, ([, name]) => name)
// The sweep runs beside; what belongs to the request came with every one of them.
const statements = [...byName]
  .filter(([, all]) => all.length >= SAMPLE)
  .map(([name, all]) => [name, all.length / SAMPLE])

async function logStatements(which: 'all' | 'none') {
  await db.query(`ALTER SYSTEM SET log_statement = '${which}'`)
  await db.query('SELECT pg_reload_conf()')
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
process.stdout.write(
  `${JSON.stringify({
    requestsPerSecond: median(results.map(({ perSecond }) => perSecond)),
    p50Ms: median(results.map(({ p50 }) => p50)),
    p99Ms: median(results.map(({ p99 }) => p99)),
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
    statementsPerRequest: Object.fromEntries(statements),
  })}\n`,
)
await db.end()
service.kill('SIGTERM')
await new Promise((resolve) => service.once('exit', resolve))
await postgres.stop()
