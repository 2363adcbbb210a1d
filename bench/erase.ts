import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Context, SystemContext } from '@/domain/context'
import { runDueSteps } from '@/domain/due-work'
import type { Sql } from '@/domain/sql'
import { RAISE } from '@/domain/withdrawal/deletion-counts'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { purgeRetainedData } from '@/domain/withdrawal/purge-retained-data'
import { openFreshContext } from './fresh-context'
import { median } from './start-up'

/**
 * `npm run bench:erase [-- rows]`, on a fresh database: one person with so many rows (a million without a number), of which every
 * second has to stay under the pseudonym, is previewed, erased and purged, and somebody with little whose step comes due in the middle.
 * `-- rows counting` erases such people by turns with and without the counts of what was deleted instead.
 */
const ROWS = Number(process.argv[2] ?? 1_000_000)
const COUNTING_ROUNDS = 5

const { ctx: context, databaseUrl, close } = await openFreshContext('erase', { LOG_LEVEL: 'warn' })
const db = new pg.Client({ connectionString: databaseUrl })
await db.connect()
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
  if (process.argv[3] === 'counting') await compareCounting()
  else await main()
} finally {
  await db.end()
  await close()
}
process.exit(0)

async function main() {
  await givenPerson('big')
  await givenPerson('small')
  const each = await fill('big')
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

/** The rows of somebody with much; returns how many each of their four tables has. */
async function fill(name: string): Promise<number> {
  const each = Math.round(ROWS / 4)
  for (const text of [
    `INSERT INTO transaction_audit_logs SELECT '${name}_' || n, 'usr_${name}', 'txn_' || n, 'transaction.added', 'Ada', '192.0.2.1', now()`,
    `INSERT INTO cache_entries SELECT '${name}_' || n, 'usr_${name}', 'cached', now()`,
    `INSERT INTO analytics_events SELECT '${name}_' || n, 'usr_${name}', 'page.viewed', '{"path": "/"}', now()`,
    `INSERT INTO communication_logs SELECT '${name}_' || n, 'usr_${name}', 'mail', 'ada@example.test', 'Hello', now()`,
  ]) {
    await db.query(`${text} FROM generate_series(1, ${each}) n`)
  }
  await db.query('ANALYZE')
  return each
}

/** A part of a statement that only reads, and that nothing asks for, is not run. */
function withoutCounts(sql: Sql): Sql {
  return (given, values) => {
    const text = given.text.replace(/INSERT INTO deletion_counts AS c \(.*\)/, '').replace(RAISE, '')
    return text === given.text ? sql(given, values) : sql({ ...given, name: `${given.name}-uncounted`, text }, values)
  }
}

async function compareCounting() {
  const uncounted: SystemContext = {
    ...context,
    transaction: (work) => context.transaction((sql) => work(withoutCounts(sql))),
  }
  const seconds = { counted: [] as number[], uncounted: [] as number[] }
  // The first pair only warms up.
  for (let round = 0; round <= COUNTING_ROUNDS; round++) {
    for (const side of round % 2 ? (['counted', 'uncounted'] as const) : (['uncounted', 'counted'] as const)) {
      const name = `${side}${round}`
      await givenPerson(name)
      await fill(name)
      // What the one before left behind slows none down.
      await db.query('VACUUM')
      await db.query('CHECKPOINT')
      const begun = performance.now()
      for (const step of ['user_profile', 'data_archives']) {
        await due(name, step)
        while (await isOpen(name, step)) await runDueSteps(side === 'counted' ? context : uncounted)
      }
      if (round > 0) seconds[side].push((performance.now() - begun) / 1000)
    }
  }
  const [counted, plain] = [median(seconds.counted), median(seconds.uncounted)].map((s) => Number(s.toFixed(2)))
  const ratios = seconds.counted.map((s, pair) => Number((s / (seconds.uncounted[pair] ?? 0)).toFixed(2)))
  print('An erasure with and without counts', { rows: ROWS, counted, plain, ratios, medianRatio: median(ratios) })
}

async function measurePreview() {
  const person = { ...ctx, actor: { userId: 'usr_big' } } as Context
  const times: number[] = []
  for (let n = 0; n < 50; n++) {
    const begun = performance.now()
    await previewWithdrawal(person, { userId: 'usr_big' })
    times.push(performance.now() - begun)
  }
  // The first one opens a connection and plans its statement.
  const [first = 0, ...later] = times
  const [firstMs, medianMs, slowestMs] = [first, median(later), Math.max(...later)].map((ms) => Number(ms.toFixed(1)))
  print('The preview of somebody with much', { firstMs, medianMs, slowestMs })
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
