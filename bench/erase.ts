import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Context, SystemContext } from '@/domain/context'
import { runDueSteps } from '@/domain/due-work'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { purgeRetainedData } from '@/domain/withdrawal/purge-retained-data'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'

/**
 * `npm run bench:erase [-- rows]`, on a fresh database: one person with so many rows (a million without a number), of which every
 * second has to stay under the pseudonym, is previewed, erased and purged, and somebody with little whose step comes due in the middle.
 */
const DATA_DIR = path.resolve('.data/bench-erase')
const ROWS = Number(process.argv[2] ?? 1_000_000)

await rm(DATA_DIR, { recursive: true, force: true })
const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR })
await migrateDeploy(postgres.url)
const db = new pg.Client({ connectionString: postgres.url })
await db.connect()
Object.assign(process.env, {
  DATA_DIR,
  DATABASE_URL: postgres.url,
  AUTH_SECRET: 'auth-secret-of-the-bench',
  CODE_SECRET: 'code-secret-of-the-bench',
  LOG_LEVEL: 'warn',
})
const context = await openContext()
let longestMs = 0
let transactions = 0
const ctx: SystemContext = {
  ...context,
  async transaction(work) {
    const begun = performance.now()
    const result = await context.transaction(work)
    longestMs = Math.max(longestMs, performance.now() - begun)
    transactions++
    return result
  },
}

try {
  await main()
} finally {
  await context.close()
  await db.end()
  await postgres.stop()
}
process.exit(0)

async function main() {
  await givenPerson('big')
  await givenPerson('small')
  const each = Math.round(ROWS / 4)
  for (const text of [
    `INSERT INTO transaction_audit_logs SELECT 'tal_' || n, 'usr_big', 'txn_' || n, 'transaction.added', 'Ada', '192.0.2.1', now()`,
    `INSERT INTO cache_entries SELECT 'cch_' || n, 'usr_big', 'cached', now()`,
    `INSERT INTO analytics_events SELECT 'ane_' || n, 'usr_big', 'page.viewed', '{"path": "/"}', now()`,
    `INSERT INTO communication_logs SELECT 'cml_' || n, 'usr_big', 'mail', 'ada@example.test', 'Hello', now()`,
  ]) {
    await db.query(`${text} FROM generate_series(1, ${each}) n`)
  }
  await db.query('ANALYZE')
  await due('big', 'user_profile')
  await measurePreview()
  await measured('The profile of somebody with much', each, () => runDueSteps(ctx))
  await due('big', 'data_archives')
  // Somebody else comes due when the big erasure is under way.
  const erasing = measured('Their archives', 3 * each, async () => {
    for (;;) {
      await runDueSteps(ctx)
      if (!(await isOpen('big', 'data_archives')) && !(await isOpen('small', 'user_profile'))) return
    }
  })
  await sleep(500)
  await due('small', 'user_profile')
  const begun = performance.now()
  while (await isOpen('small', 'user_profile')) await sleep(20)
  const waitedMs = Math.round(performance.now() - begun)
  await erasing
  print('Somebody with little waited', { ms: waitedMs })
  await db.query(`UPDATE withdrawals SET purge_due_at = now() WHERE id = 'wd_big'`)
  await measured('The purge of what had to stay', 2 * each, () => purgeRetainedData(ctx))
  const { rows } = await db.query(
    `SELECT (SELECT count(*)::int FROM retained_records) AS retained, (SELECT count(*)::int FROM users WHERE id = 'usr_big') AS users,
            (SELECT count(*)::int FROM deletion_steps WHERE withdrawal_id = 'wd_big' AND status <> 'completed') AS open`,
  )
  print('Left', { ...rows[0], peakMemoryMiB: Math.round(process.resourceUsage().maxRSS / 1024) })
}

async function measurePreview() {
  const person = { ...ctx, actor: { userId: 'usr_big' } } as Context
  const times: number[] = []
  for (let n = 0; n < 50; n++) {
    const begun = performance.now()
    await previewWithdrawal(person, { userId: 'usr_big' })
    times.push(performance.now() - begun)
  }
  times.sort((a, b) => a - b)
  const [median, slowest] = [times[25], times[49]].map((ms) => Number(ms?.toFixed(1)))
  print('The preview of somebody with much', { medianMs: median, slowestMs: slowest })
}

async function givenPerson(name: string) {
  await db.query(
    `INSERT INTO users (id, name, email, password_hash, created_at, withdrawn_at) VALUES ($1, $1, $1, 'none', now(), now())`,
    [`usr_${name}`],
  )
  await db.query(
    `INSERT INTO withdrawals (id, user_id, keep_analytics, keep_audit_logs, keep_transaction_history, started_at,
                              scheduled_completion, purge_due_at)
     VALUES ($1, $2, true, false, false, now(), now(), now() + interval '30 days')`,
    [`wd_${name}`, `usr_${name}`],
  )
  await db.query(
    `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at)
     SELECT $1, step, 'pending', now() + interval '1 day', now() + interval '1 day'
     FROM unnest(ARRAY['user_profile', 'data_archives']) step`,
    [`wd_${name}`],
  )
}

function due(name: string, step: string) {
  return db.query('UPDATE deletion_steps SET due_at = now() WHERE withdrawal_id = $1 AND step = $2', [
    `wd_${name}`,
    step,
  ])
}

async function isOpen(name: string, step: string) {
  const { rows } = await db.query(
    `SELECT FROM deletion_steps WHERE withdrawal_id = $1 AND step = $2 AND status <> 'completed'`,
    [`wd_${name}`, step],
  )
  return rows.length > 0
}

async function measured(what: string, rows: number, work: () => Promise<unknown>) {
  longestMs = 0
  transactions = 0
  const begun = performance.now()
  await work()
  const ms = performance.now() - begun
  print(what, {
    rows,
    seconds: Number((ms / 1000).toFixed(1)),
    rowsPerSecond: Math.round((rows * 1000) / ms),
    transactions,
    longestTransactionMs: Math.round(longestMs),
  })
}

function print(what: string, figures: object) {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`)
}
