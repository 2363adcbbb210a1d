import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Context, SystemContext } from '@/domain/context'
import { runDueSteps } from '@/domain/due-work'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { purgeRetainedData } from '@/domain/withdrawal/purge-retained-data'
import { median } from '../services'
import { type Bench, mib, print, rounded, secondsOf } from './harness'

/**
 * One person with so many rows, of which every second has to stay under the pseudonym, is previewed, erased and purged; somebody with
 * little comes due in the middle.
 */
export async function measureErase({ ctx: context, db }: Bench, rows: number) {
  let longestSeconds = 0
  let transactions = 0
  const ctx: SystemContext = {
    ...context,
    async transaction(work) {
      const begun = performance.now()
      const result = await context.transaction(work)
      longestSeconds = Math.max(longestSeconds, (performance.now() - begun) / 1000)
      transactions++
      return result
    },
  }
  const measured = async (what: string, count: number, work: () => Promise<unknown>) => {
    longestSeconds = 0
    transactions = 0
    const seconds = rounded(await secondsOf(work))
    print(what, { rows: count, seconds, transactions, longestSeconds: rounded(longestSeconds, 2) })
  }

  for (const name of ['big', 'small']) await givenWithdrawal(db, name)
  const each = await fill(db, rows)
  await due(db, 'big', 'user_profile')
  await measurePreview(ctx)
  await measured('The profile of somebody with much', each, () => runDueSteps(ctx))
  await due(db, 'big', 'data_archives')
  const erasing = measured('Their archives', 3 * each, async () => {
    do await runDueSteps(ctx)
    while ((await isOpen(db, 'big', 'data_archives')) || (await isOpen(db, 'small', 'user_profile')))
  })
  await sleep(500)
  await due(db, 'small', 'user_profile')
  const seconds = await secondsOf(async () => {
    while (await isOpen(db, 'small', 'user_profile')) await sleep(20)
  })
  print('Somebody with little waited', { seconds: rounded(seconds, 2) })
  await erasing
  await db.query(`UPDATE withdrawals SET purge_due_at = now() WHERE id = 'wd_big'`)
  await measured('The purge of what had to stay', 2 * each, () => purgeRetainedData(ctx))
  const left = await db.query(
    `SELECT (SELECT count(*)::int FROM retained_records) AS retained, (SELECT count(*)::int FROM users WHERE id = 'usr_big') AS users,
            (SELECT count(*)::int FROM deletion_steps WHERE withdrawal_id = 'wd_big' AND status <> 'completed') AS open`,
  )
  print('Left', { ...left.rows[0], peakMiB: mib(process.resourceUsage().maxRSS * 1024) })
}

/** Returns how many rows each of the person's four tables has. */
async function fill(db: pg.Client, rows: number): Promise<number> {
  const each = Math.round(rows / 4)
  for (const text of [
    `INSERT INTO transaction_audit_logs SELECT 'row_' || n, 'usr_big', 'txn_' || n, 'transaction.added', 'Ada', '192.0.2.1', now()`,
    `INSERT INTO cache_entries SELECT 'row_' || n, 'usr_big', 'cached', now()`,
    `INSERT INTO analytics_events SELECT 'row_' || n, 'usr_big', 'page.viewed', '{"path": "/"}', now()`,
    `INSERT INTO communication_logs SELECT 'row_' || n, 'usr_big', 'mail', 'ada@example.test', 'Hello', now()`,
  ]) {
    await db.query(`${text} FROM generate_series(1, ${each}) n`)
  }
  await db.query('ANALYZE')
  return each
}

async function measurePreview(ctx: SystemContext) {
  const person = { ...ctx, actor: { userId: 'usr_big' } } as Context
  const times: number[] = []
  for (let n = 0; n < 50; n++)
    times.push(1000 * (await secondsOf(() => previewWithdrawal(person, { userId: 'usr_big' }))))
  // The first one opens a connection and plans its statement.
  const [first = 0, ...later] = times
  print('The preview of somebody with much', { firstMs: rounded(first), medianMs: rounded(median(later)) })
}

async function givenWithdrawal(db: pg.Client, name: string) {
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

const due = (db: pg.Client, name: string, step: string) =>
  db.query('UPDATE deletion_steps SET due_at = now() WHERE withdrawal_id = $1 AND step = $2', [`wd_${name}`, step])

async function isOpen(db: pg.Client, name: string, step: string) {
  const text = `SELECT FROM deletion_steps WHERE withdrawal_id = $1 AND step = $2 AND status <> 'completed'`
  return (await db.query(text, [`wd_${name}`, step])).rows.length > 0
}
