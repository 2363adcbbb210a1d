import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { SMTPServer } from 'smtp-server'
import { APP_PHASES, STEPS } from '@/contract/withdrawal'
import type { SystemContext } from '@/domain/context'
import { DUE_WORK, runDueSteps } from '@/domain/due-work'
import { CLEANUPS, cleanupName } from '@/domain/queue/cleanup'
import { orderedValues, type Sql } from '@/domain/sql'
import { purgeRetainedData } from '@/domain/withdrawal/purge-retained-data'
import { openSession } from '@/server/adapters/database-session'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'
import { median, startService, stopService } from './start-up'

/**
 * `npm run bench:sweep`, on a fresh database with 1,000,000 finished steps and 1,000 due ones: the plan of every statement
 * that looks for work, the time of a sweep, and 1,000 withdrawals through HTTP against one instance.
 */
const DATA_DIR = path.resolve('.data/bench-sweep')
const FINISHED = 250_000
const DUE = 1_000
const WITHDRAWALS = 1_000
const AT_ONCE = 16
const PORT = 4391

/** The statements that look for work; what they find is worked off by key. */
const LOOKS = [
  'due-erasures',
  'due-calls',
  'due-notices',
  'purges-due',
  'claim-outbox-events',
  'expire-notices',
  'withdrawals-to-ledger',
  'due-receipts',
  ...CLEANUPS.map(({ table }) => cleanupName(table)),
]

await rm(DATA_DIR, { recursive: true, force: true })
const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR })
await migrateDeploy(postgres.url)
const db = new pg.Client({ connectionString: postgres.url })
await db.connect()

const application = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end()))
await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
const endpoint = `http://127.0.0.1:${(application.address() as AddressInfo).port}/`
const mails = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  onData: (stream, _session, done) => stream.resume().on('end', () => done()),
})
await new Promise<void>((resolve) => mails.listen(0, '127.0.0.1', resolve))

const settings = {
  NODE_ENV: 'production' as const,
  PORT: String(PORT),
  DATA_DIR,
  DATABASE_URL: postgres.url,
  SMTP_URL: `smtp://127.0.0.1:${(mails.server.address() as AddressInfo).port}`,
  AUTH_SECRET: 'auth-secret-of-the-bench',
  CODE_SECRET: 'code-secret-of-the-bench',
  LOG_LEVEL: 'warn',
  // The last step is due after 0.9 s.
  WITHDRAWAL_TIME_SCALE: '0.00001',
}
Object.assign(process.env, settings)
const ctx = await openContext()

try {
  await main()
} finally {
  await ctx.close()
  await db.end()
  application.close()
  mails.close()
  await postgres.stop()
}
process.exit(0)

async function main() {
  await seedHistory()
  await seedPeople('plan', DUE)
  await seedDue('plan')
  await db.query('ANALYZE')
  await printPlans()

  await seedPeople('sweep', DUE)
  await seedDue('sweep')
  const sweepMs = await time(() => toItsEnd(ctx, runDueSteps))
  const { rows: left } = await db.query('SELECT FROM deletion_steps WHERE due_at <= now()')
  print('A sweep', {
    finishedSteps: 4 * FINISHED,
    dueSteps: DUE,
    ms: sweepMs,
    stepsPerSecond: Math.round((DUE * 1000) / sweepMs),
    left: left.length,
  })
  const purgeMs = await time(() => purgeRetainedData(ctx))
  print('A purge', { keptWithdrawals: FINISHED / 2, duePurges: DUE, ms: purgeMs })
  await db.query('DELETE FROM notices WHERE due_at IS NOT NULL')
  await db.query('DELETE FROM outbox_events WHERE due_at IS NOT NULL')
  const idle = []
  for (let round = 0; round < 20; round++) idle.push(await time(() => runDueWork(ctx)))
  print('A sweep that finds nothing', { medianMs: median(idle) })

  await seedPeople('http', WITHDRAWALS)
  print('Withdrawals through HTTP', await withdrawAll())
}

async function runDueWork(ctx: SystemContext) {
  for (const { run } of DUE_WORK) await toItsEnd(ctx, run)
}

/** With the calls that it begins. */
async function toItsEnd(ctx: SystemContext, work: (ctx: SystemContext) => Promise<unknown>) {
  const begun: Promise<unknown>[] = []
  await work({ ...ctx, background: (task) => begun.push(task()) })
  for (let next = begun.shift(); next; next = begun.shift()) await next
}

/** What a busy service has behind it: withdrawals that are purged or kept, sent messages and events, buckets, keys. */
async function seedHistory() {
  const started = `now() - interval '1 minute' * (n % 86400)`
  await db.query(
    `INSERT INTO withdrawals (id, user_id, reason, keep_analytics, keep_audit_logs, keep_transaction_history,
                              started_at, scheduled_completion, completed_at, purge_due_at, purged_at)
     SELECT 'wd_old' || n, CASE WHEN n % 2 = 0 THEN 'usr_old' || n END, 'no_longer_needed', false, false, false, ${started},
            ${started}, ${started}, now() + interval '1 minute' * (n % 43200 + 60), CASE WHEN n % 2 = 1 THEN now() END
     FROM generate_series(1, $1::int) n`,
    [FINISHED],
  )
  await db.query(
    `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, attempts, completed_at)
     SELECT 'wd_old' || n, step, 'completed', ${started}, 1, ${started}
     FROM generate_series(1, $1::int) n,
          unnest(ARRAY['${STEPS.join("', '")}']) step`,
    [FINISHED],
  )
  const inTheLastMonth = `now() - interval '1 second' * (29 * 86400 - n * 10)`
  for (const text of [
    `INSERT INTO users (id, name, email, email_key, password_hash, created_at)
     SELECT 'usr_live' || n, 'Bench', 'live' || n, 'live' || n, 'none', now()`,
    `INSERT INTO sessions (id, user_id, user_agent, ip, created_at, last_seen_at, expires_at)
     SELECT 'ses_old' || n, 'usr_live' || n, '', '', ${inTheLastMonth}, ${inTheLastMonth}, ${inTheLastMonth} + interval '30 days'`,
    `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at,
                                        request_ip, sent_at, expires_at)
     SELECT 'ecr_old' || n, 'usr_live' || n, 'superseded', 'email_code', '', '', '', '', ${inTheLastMonth}, '', ${inTheLastMonth},
            ${inTheLastMonth} + interval '12 hours'`,
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
    await db.query(`${text} FROM generate_series(1, $1::int) n`, [FINISHED])
  }
  const sealed = ctx.secrets.seal(`whsec_${Buffer.alloc(32).toString('base64')}`)
  await db.query(`INSERT INTO connected_apps VALUES ('app_bench', 'bench', $1, $2, now())`, [endpoint, sealed])
}

/** Users with a token, a profile, an application and an archive. */
async function seedPeople(prefix: string, count: number) {
  const people = `FROM generate_series(1, ${count}) n`
  const id = `'usr_${prefix}' || n`
  for (const text of [
    `INSERT INTO users (id, name, email, email_key, password_hash, created_at)
     SELECT ${id}, 'Bench', '${prefix}' || n || '@example.test', '${prefix}' || n || '@example.test', 'none', now() ${people}`,
    `INSERT INTO profiles (user_id, bio) SELECT ${id}, 'bench' ${people}`,
    `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
     SELECT 'tok_${prefix}' || n, ${id}, 'bench', sha256(convert_to('uat_' || lpad('${prefix}' || n, 43, 'a'), 'UTF8')),
            ARRAY['account:manage'], now(), now() + interval '1 day' ${people}`,
    `INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
     SELECT 'con_${prefix}' || n, ${id}, 'app_bench', 'subject' || n, now() ${people}`,
    `INSERT INTO archive_keys (user_id, sealed_key, created_at) SELECT ${id}, '', now() ${people}`,
    `INSERT INTO archives (id, user_id, object_key, bytes, created_at, stored_at)
     SELECT 'arc_${prefix}' || n, ${id}, '${prefix}' || n || '.bin', 1, now(), now() ${people}`,
  ]) {
    await db.query(text)
  }
  await mkdir(path.join(DATA_DIR, 'archives'), { recursive: true })
  for (let n = 1; n <= count; n++) await writeFile(path.join(DATA_DIR, 'archives', `${prefix}${n}.bin`), 'x')
}

/** Of each withdrawal one step is due, of all kinds in turn; of the rest of the work a thousand rows each. */
async function seedDue(prefix: string) {
  await db.query(
    `INSERT INTO withdrawals (id, user_id, keep_analytics, keep_audit_logs, keep_transaction_history, started_at,
                              scheduled_completion, purge_due_at)
     SELECT 'wd_${prefix}' || n, 'usr_${prefix}' || n, false, false, false, now(), now(), now() + interval '30 days'
     FROM generate_series(1, ${DUE}) n`,
  )
  await db.query(
    `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at)
     SELECT 'wd_${prefix}' || n, steps[1 + (n + other) % ${APP_PHASES.length}], 'pending', now(),
            now() + CASE WHEN other = 0 THEN interval '-1 minute' ELSE interval '1 day' END
     FROM generate_series(1, ${DUE}) n, generate_series(0, ${APP_PHASES.length - 1}) other,
          (SELECT ARRAY['${APP_PHASES.join("', '")}'] AS steps) s`,
  )
  await db.query(
    `INSERT INTO app_notifications (id, withdrawal_id, app_id, app_name, subject, status, due_at)
     SELECT 'msg_${prefix}' || n, 'wd_${prefix}' || n, 'app_bench', 'bench', 'subject' || n, 'pending', now()
     FROM generate_series(1, ${DUE}) n`,
  )
  const from = prefix === 'plan' ? 0 : DUE
  await db.query(
    `UPDATE withdrawals SET purge_due_at = now() WHERE id IN (SELECT 'wd_old' || 2 * (${from} + n) FROM generate_series(1, ${DUE}) n)`,
  )
  if (prefix !== 'plan') return
  for (const text of [
    `UPDATE rate_limits SET expires_at = now() WHERE key IN (SELECT 'old' || n FROM generate_series(1, ${DUE}) n)`,
    `UPDATE idempotency_keys SET expires_at = now() WHERE key IN (SELECT 'old' || n FROM generate_series(1, ${DUE}) n)`,
    `UPDATE outbox_events SET sent_at = now() - interval '2 days' WHERE id IN (SELECT 'evt_old' || n FROM generate_series(1, ${DUE}) n)`,
    `INSERT INTO outbox_events (id, name, data, created_at, due_at)
     SELECT 'evt_due' || n, 'account/withdrawal.started', '{}', now(), now() FROM generate_series(1, ${DUE}) n`,
    `INSERT INTO notices (id, user_id, kind, withdrawal_id, sealed, created_at, due_at, expires_at)
     SELECT 'ntc_due' || n, 'usr_plan' || n, 'account_withdrawal_started', 'wd_plan' || n, '', now(), now(), now() + interval '1 day'
     FROM generate_series(1, ${DUE}) n`,
  ]) {
    await db.query(text)
  }
}

/**
 * Every statement of a sweep when it is first asked: those that look for work in full, of the others the access to tables.
 * As prepared statements with a generic plan, as on the pool's connections.
 */
async function printPlans() {
  const seen = new Set<string>()
  const explainer = new pg.Client({ connectionString: postgres.url })
  await explainer.connect()
  await openSession(explainer)
  const scans: string[] = []
  let turn = Promise.resolve()
  const explained =
    (run: Sql): Sql =>
    async (statement, values) => {
      const { name, text } = statement
      if (!seen.has(name)) {
        seen.add(name)
        const isLook = LOOKS.includes(name)
        turn = turn.then(async () => {
          const plan = await explain(explainer, text, orderedValues(statement, values), isLook)
          if (isLook) process.stdout.write(`\n-- ${name}\n${plan.join('\n')}\n`)
          else scans.push(...plan.filter(readsMuch).map((line) => `${name}: ${line.trim()}`))
        })
        await turn
      }
      return run(statement, values)
    }
  const observed: SystemContext = {
    ...ctx,
    sql: explained(ctx.sql),
    transaction: (work) => ctx.transaction((sql) => work(explained(sql))),
    mail: { ...ctx.mail, send: async () => 'accepted' as const },
  }
  await runDueWork(observed)
  await explainer.end()
  const missing = LOOKS.filter((name) => !seen.has(name))
  if (missing.length > 0) throw new Error(`never asked: ${missing.join(', ')}`)
  print('Other statements of a sweep', { count: seen.size - LOOKS.length, thatReadMuch: scans })
}

/** By the planner's costs: a few rows found by a key are far below. */
function readsMuch(line: string) {
  return Number(/Scan .*\.\.([\d.]+) rows/.exec(line)?.[1] ?? 0) > 100
}

async function explain(client: pg.Client, text: string, values: unknown[], isLook: boolean): Promise<string[]> {
  const literals = values.map((value) => (typeof value === 'number' ? String(value) : literal(value)))
  await client.query('BEGIN')
  try {
    await client.query(`PREPARE look AS ${text}`)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (${isLook ? 'ANALYZE, BUFFERS' : 'COSTS'}) EXECUTE look${literals.length > 0 ? `(${literals.join(', ')})` : ''}`,
    )
    return rows.map((row) => row['QUERY PLAN'])
  } finally {
    await client.query('ROLLBACK')
    await client.query('DEALLOCATE ALL')
  }
}

function literal(value: unknown): string {
  if (value === null) return 'NULL'
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  if (Buffer.isBuffer(value)) return pg.escapeLiteral(`\\x${value.toString('hex')}`)
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(', ')}]`
  return pg.escapeLiteral(String(value))
}

async function withdrawAll() {
  const service = await startService('dist/server.mjs', settings)
  const startedAt = performance.now()
  const took: number[] = []
  const statuses: Record<number, number> = {}
  let next = 1
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let n = next++; n <= WITHDRAWALS; n = next++) {
        const began = performance.now()
        const { status } = await fetch(`http://127.0.0.1:${PORT}/api/v1/users/usr_http${n}/withdraw`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer uat_${`http${n}`.padStart(43, 'a')}`,
            'X-Required-Scope': 'account:manage',
            'Content-Type': 'application/json',
          },
          body: JSON.stringify({ confirmation: 'DELETE_MY_ACCOUNT', reason: 'no_longer_needed' }),
        })
        took.push(performance.now() - began)
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }),
  )
  const acceptedMs = Math.round(performance.now() - startedAt)
  const completed = async () => {
    const { rows } = await db.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM withdrawals WHERE user_id LIKE 'usr\\_http%' AND completed_at IS NOT NULL`,
    )
    return rows[0]?.count ?? 0
  }
  while ((await completed()) < WITHDRAWALS && performance.now() - startedAt < 300_000) await sleep(100)
  const completedMs = Math.round(performance.now() - startedAt)
  const count = await completed()
  await stopService(service)
  took.sort((a, b) => a - b)
  const at = (share: number) => Math.round(took[Math.floor((took.length - 1) * share)] ?? 0)
  return { statuses, acceptedMs, p50Ms: at(0.5), p99Ms: at(0.99), completed: count, allCompletedMs: completedMs }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return Math.round(performance.now() - startedAt)
}

function print(title: string, value: object) {
  process.stdout.write(`\n== ${title} ==\n${JSON.stringify(value, null, 2)}\n`)
}
