import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/local/embedded-postgres.ts'
import { rssMib } from './load.ts'
import { seedUsers, startService, stopService, tokenOf } from './start-up.ts'

/**
 * `npm run bench:export [-- megabytes]`, on a fresh database: the export of one person with so much data (1,000 without a number), read
 * as fast as it comes, and the memory of the service meanwhile.
 */
const DATA_DIR = path.resolve('.data/bench-export')
const RECORDS = Number(process.argv[2] ?? 1_000) * 1_000
const PORT = 4392

await rm(DATA_DIR, { recursive: true, force: true })
const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR })
const service = await startService('dist/server.mjs', {
  PORT: String(PORT),
  DATA_DIR,
  DATABASE_URL: postgres.url,
  LOG_LEVEL: 'warn',
})
try {
  await fill()
  // The first one, of somebody with little, loads what every export needs.
  await download(2)
  await sleep(2_000)
  const idleMiB = rssMib(service.pid as number)
  let peakMiB = idleMiB
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, rssMib(service.pid as number))
  }, 50)
  const begun = performance.now()
  const bytes = await download(1)
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  clearInterval(watch)
  const figures = { records: RECORDS, archiveMB: Math.round(bytes / 1e6), seconds, idleMiB, peakMiB }
  process.stdout.write(`The export of somebody with much: ${JSON.stringify(figures)}\n`)
} finally {
  await stopService(service)
  await postgres.stop()
}

/** Each record is a kilobyte; nothing repeats within the window of the compression. */
async function fill() {
  const db = new pg.Client({ connectionString: postgres.url })
  await db.connect()
  await seedUsers(db, 2)
  await db.query(
    `WITH texts AS MATERIALIZED (
       SELECT t, string_agg(md5(t || '.' || n), '') AS text FROM generate_series(0, 999) t, generate_series(1, 28) n GROUP BY t
     )
     INSERT INTO analytics_events
     SELECT 'ane_' || lpad(n::text, 12, '0'), 'usr_bench1', 'page.viewed', jsonb_build_object('text', text), now()
     FROM generate_series(1, $1::int) n JOIN texts ON t = n % 1000`,
    [RECORDS],
  )
  await db.query('VACUUM ANALYZE')
  await db.end()
}

/** Of the n-th person; returns the size of the archive. */
async function download(n: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${PORT}/api/v1/users/usr_bench${n}/export`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tokenOf(n)}`, 'X-Required-Scope': 'account:manage' },
  })
  if (response.status !== 200 || !response.body) throw new Error(`${response.status}: ${await response.text()}`)
  let bytes = 0
  for await (const chunk of response.body) bytes += chunk.length
  return bytes
}
