import type pg from 'pg'
import type { Context, SystemContext } from '@/domain/context'
import { runDueSteps } from '@/domain/due-work'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { purgeRetainedData } from '@/domain/withdrawal/purge-retained-data'
import { median } from '../services'
import { type Bench, mib, print, rounded, secondsOf } from './harness'

/** One person with so many rows, of which every second has to stay under the pseudonym, is previewed, erased and purged. */
export async function measureErase({ ctx, db }: Bench, rows: number) {
  const measured = async (what: string, count: number, work: () => Promise<unknown>) =>
    print(what, { rows: count, seconds: rounded(await secondsOf(work)) })

  await givenWithdrawal(db)
  const each = await fill(db, rows)
  await due(db, 'user_profile')
  await measurePreview(ctx)
  await measured('The profile of somebody with much', each, () => runDueSteps(ctx))
  await due(db, 'data_archives')
  await measured('Their archives', 3 * each, async () => {
    do await runDueSteps(ctx)
    while (await isOpen(db, 'data_archives'))
  })
  await db.query(`UPDATE withdrawals SET purge_due_at = now()`)
  await measured('The purge of what had to stay', 2 * each, () => purgeRetainedData(ctx))
  const left = await db.query(
    `SELECT (SELECT count(*)::int FROM retained_records) AS retained, (SELECT count(*)::int FROM users) AS users,
            (SELECT count(*)::int FROM deletion_steps WHERE status <> 'completed') AS open`,
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

async function givenWithdrawal(db: pg.Client) {
  await db.query(
    `INSERT INTO users (id, name, email, password_hash, created_at, withdrawn_at)
     VALUES ('usr_big', 'Bench', 'big', 'none', now(), now())`,
  )
  await db.query(
    `INSERT INTO withdrawals (id, user_id, keep_analytics, keep_audit_logs, keep_transaction_history, started_at,
                              scheduled_completion, purge_due_at)
     VALUES ('wd_big', 'usr_big', true, false, false, now(), now(), now() + interval '30 days')`,
  )
  await db.query(
    `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at)
     SELECT 'wd_big', step, 'pending', now() + interval '1 day', now() + interval '1 day'
     FROM unnest(ARRAY['user_profile', 'data_archives']) step`,
  )
}

const due = (db: pg.Client, step: string) =>
  db.query('UPDATE deletion_steps SET due_at = now() WHERE step = $1', [step])

async function isOpen(db: pg.Client, step: string) {
  const text = `SELECT FROM deletion_steps WHERE step = $1 AND status <> 'completed'`
  return (await db.query(text, [step])).rows.length > 0
}
