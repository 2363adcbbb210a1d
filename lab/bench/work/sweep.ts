import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type pg from 'pg'
import { APP_PHASES, STEPS } from '@/contract/withdrawal'
import { registerApp } from '@/domain/applications/manage'
import type { SystemContext } from '@/domain/context'
import { DUE_WORK, runDueSteps } from '@/domain/due-work'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { median } from '../services'
import { type Bench, print, rounded, secondsOf } from './harness'

const DUE = 1_000
const AT_ONCE = 16

/** Due steps, a sweep that finds nothing, and a crowd of withdrawals, beside so many finished steps. */
export async function measureSweep({ ctx, db, dataDir, application }: Bench, finishedSteps: number) {
  const finished = Math.round(finishedSteps / STEPS.length)
  const { appId } = await registerApp(ctx, { name: 'Bench', endpoint: application.endpoint })
  await seedHistory(db, finished)
  const archives = path.join(dataDir, 'archives')
  await mkdir(archives, { recursive: true })
  await seedPeople(db, 'due', appId, DUE)
  await seedPeople(db, 'crowd', appId, DUE)
  for (let n = 1; n <= DUE; n++) {
    for (const prefix of ['due', 'crowd']) await writeFile(path.join(archives, `${prefix}${n}.bin`), 'x')
  }
  await seedDue(db, appId)
  await db.query('ANALYZE')

  const sweep = await secondsOf(() => toItsEnd(ctx, runDueSteps))
  const { rowCount: left } = await db.query('SELECT FROM deletion_steps WHERE due_at <= now()')
  print('A sweep', {
    finishedSteps,
    dueSteps: DUE,
    seconds: rounded(sweep, 2),
    perSecond: Math.round(DUE / sweep),
    left,
  })
  await runDueWork(ctx)
  const idle = []
  for (let round = 0; round < 20; round++) idle.push(1000 * (await secondsOf(() => runDueWork(ctx))))
  print('A sweep that finds nothing', { medianMs: rounded(median(idle)) })
  await measureCrowd(ctx, db)
}

async function measureCrowd(ctx: SystemContext, db: pg.Client) {
  print('Withdrawals', await withdrawCrowd(ctx, db, 'crowd', DUE))
}

/** Withdraws all people of this prefix and works until everything is completed. */
export async function withdrawCrowd(ctx: SystemContext, db: pg.Client, prefix: string, count: number) {
  const startedAt = performance.now()
  const tookMs: number[] = []
  const people = Array.from({ length: count }, (_, n) => `usr_${prefix}${n + 1}`)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let userId = people.pop(); userId; userId = people.pop()) {
        const withdrawn = { userId, confirmation: 'DELETE_MY_ACCOUNT' } as const
        tookMs.push(1000 * (await secondsOf(() => withdrawByOperator(ctx, withdrawn))))
      }
    }),
  )
  const acceptedSeconds = rounded((performance.now() - startedAt) / 1000)
  const open = `SELECT FROM withdrawals WHERE user_id LIKE 'usr\\_${prefix}%' AND completed_at IS NULL LIMIT 1`
  while ((await db.query(open)).rowCount) await runDueWork(ctx)
  const completedSeconds = rounded((performance.now() - startedAt) / 1000)
  return { people: count, acceptedSeconds, medianMs: rounded(median(tookMs)), completedSeconds }
}

async function runDueWork(ctx: SystemContext) {
  for (const { run } of DUE_WORK) await toItsEnd(ctx, run)
}

/** With the calls that it begins. */
async function toItsEnd(ctx: SystemContext, work: (ctx: SystemContext) => Promise<unknown>) {
  const tasks: Promise<unknown>[] = []
  await work({ ...ctx, background: (task) => tasks.push(task()) })
  for (let next = tasks.shift(); next; next = tasks.shift()) await next
}

/** What a busy service has behind it: withdrawals that are purged or kept, sent messages and events, buckets, keys. */
async function seedHistory(db: pg.Client, finished: number) {
  const started = `now() - interval '1 minute' * (n % 86400)`
  const lastMonth = `now() - interval '1 second' * (29 * 86400 - n * 10)`
  for (const text of [
    `INSERT INTO withdrawals (id, user_id, reason, keep_analytics, keep_audit_logs, keep_transaction_history,
                              started_at, scheduled_completion, completed_at, purge_due_at, purged_at)
     SELECT 'wd_old' || n, CASE WHEN n % 2 = 0 THEN 'usr_old' || n END, 'no_longer_needed', false, false, false, ${started},
            ${started}, ${started}, now() + interval '1 minute' * (n % 43200 + 60), CASE WHEN n % 2 = 1 THEN now() END`,
    `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, attempts, completed_at)
     SELECT 'wd_old' || n, unnest(ARRAY['${STEPS.join("', '")}']), 'completed', ${started}, 1, ${started}`,
    `INSERT INTO users (id, name, email, email_key, password_hash, created_at)
     SELECT 'usr_live' || n, 'Bench', 'live' || n, 'live' || n, 'none', now()`,
    `INSERT INTO sessions (id, user_id, user_agent, ip, created_at, last_seen_at, expires_at)
     SELECT 'ses_old' || n, 'usr_live' || n, '', '', ${lastMonth}, ${lastMonth}, ${lastMonth} + interval '30 days'`,
    `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at,
                                        request_ip, sent_at, expires_at)
     SELECT 'ecr_old' || n, 'usr_live' || n, 'superseded', 'email_code', '', '', '', '', ${lastMonth}, '', ${lastMonth},
            ${lastMonth} + interval '12 hours'`,
    `INSERT INTO ended_credentials (credential_hash, withdrawal_id, user_id, scopes, made_the_call, expires_at)
     SELECT sha256(convert_to(n::text, 'UTF8')), 'wd_old' || n, 'usr_old' || n, '{}', true, now() + interval '30 days'`,
    `INSERT INTO retained_records (id, withdrawal_id, pseudonym, source, facts, at)
     SELECT 'old' || n, 'wd_old' || n, 'none', 'legal_records', '{}', now()`,
    `INSERT INTO outbox_events (id, name, data, created_at, sent_at)
     SELECT 'evt_old' || n, 'account/withdrawal.started', '{}', now(), now()`,
    `INSERT INTO notices (id, user_id, kind, recipient, created_at, sent_at)
     SELECT 'ntc_old' || n, 'usr_live' || n, 'email_changed', 'old', now(), now()`,
    `INSERT INTO rate_limits (key, user_id, hits, places, window_ms, granted, expires_at)
     SELECT 'old' || n, 'usr_live' || n, ARRAY[now()], 5, 3600000, true, now() + interval '1 hour' + random() * interval '1 day'`,
    `INSERT INTO idempotency_keys (key, user_id, body_mac, started_at, expires_at)
     SELECT 'old' || n, 'usr_live' || n, '', now(), now() + interval '1 day'`,
  ]) {
    await db.query(`${text} FROM generate_series(1, $1::int) n`, [finished])
  }
}

/** Users with a profile, an application and an archive. */
async function seedPeople(db: pg.Client, prefix: string, appId: string, count: number) {
  const id = `'usr_${prefix}' || n`
  for (const text of [
    `INSERT INTO users (id, name, email, email_key, password_hash, created_at)
     SELECT ${id}, 'Bench', '${prefix}' || n || '@example.test', '${prefix}' || n || '@example.test', 'none', now()`,
    `INSERT INTO profiles (user_id, bio) SELECT ${id}, 'bench'`,
    `INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
     SELECT 'con_${prefix}' || n, ${id}, '${appId}', 'subject' || n, now()`,
    `INSERT INTO archive_keys (user_id, sealed_key, created_at) SELECT ${id}, '', now()`,
    `INSERT INTO archives (id, user_id, object_key, bytes, created_at, stored_at)
     SELECT 'arc_${prefix}' || n, ${id}, '${prefix}' || n || '.bin', 1, now(), now()`,
  ]) {
    await db.query(`${text} FROM generate_series(1, $1::int) n`, [count])
  }
}

/** Of each withdrawal one step is due, of all kinds in turn. */
async function seedDue(db: pg.Client, appId: string) {
  for (const text of [
    `INSERT INTO withdrawals (id, user_id, keep_analytics, keep_audit_logs, keep_transaction_history, started_at,
                              scheduled_completion, purge_due_at)
     SELECT 'wd_due' || n, 'usr_due' || n, false, false, false, now(), now(), now() + interval '30 days'
     FROM generate_series(1, $1::int) n`,
    `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at)
     SELECT 'wd_due' || n, steps[1 + (n + other) % ${APP_PHASES.length}], 'pending', now(),
            now() + CASE WHEN other = 0 THEN interval '-1 minute' ELSE interval '1 day' END
     FROM generate_series(1, $1::int) n, generate_series(0, ${APP_PHASES.length - 1}) other,
          (SELECT ARRAY['${APP_PHASES.join("', '")}'] AS steps) s`,
    `INSERT INTO deletion_tasks (id, withdrawal_id, app_id, app_name, subject, status, due_at)
     SELECT 'msg_due' || n, 'wd_due' || n, '${appId}', 'Bench', 'subject' || n, 'pending', now() FROM generate_series(1, $1::int) n`,
  ]) {
    await db.query(text, [DUE])
  }
}
