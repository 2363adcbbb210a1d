import { rm } from 'node:fs/promises'
import autocannon from 'autocannon'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/local/embedded-postgres.ts'
import { countStatements, median, seedUsers, startService, stopService, tokenOf } from './start-up.ts'

/** `npm run bench:status`: GET …/email/status with a bearer token, 16 connections, over 10,000 users on a fresh database. */
const USERS = 10_000
const CONNECTIONS = 16
const ROUNDS = 5
const SECONDS = 5
const PORT = 4390
const DATA_DIR = '.data/bench'

await rm(DATA_DIR, { recursive: true, force: true })
const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR })
const service = await startService('dist/server.mjs', {
  PORT: String(PORT),
  DATA_DIR,
  DATABASE_URL: postgres.url,
  LOG_LEVEL: 'warn',
  READ_LIMIT: '999999999',
})

const db = new pg.Client({ connectionString: postgres.url })
await db.connect()
await seedUsers(db, USERS)
await db.query('ANALYZE')

const requests = Array.from({ length: USERS }, (_, index) => ({
  path: `/api/v1/users/usr_bench${index + 1}/email/status`,
  headers: { Authorization: `Bearer ${tokenOf(index + 1)}`, 'X-Required-Scope': 'email:manage' },
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
const byName = await countStatements(db, `${DATA_DIR}/pg.log`, async () => {
  for (const { path, headers } of requests.slice(0, SAMPLE)) await fetch(`http://127.0.0.1:${PORT}${path}`, { headers })
})
// The sweep runs beside; what belongs to the request came with every one of them.
const statements = [...byName].filter(([, count]) => count >= SAMPLE).map(([name, count]) => [name, count / SAMPLE])

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
await stopService(service)
await postgres.stop()
