import fc from 'fast-check'
import { expect, test } from 'vitest'
import { STEPS } from '@/contract/withdrawal'
import {
  asUser,
  givenUser,
  outcomeOf,
  type TestContext,
  type TestUser,
  testContext,
  withdrawAs,
} from '@/testing/domain'
import { LATER_STEPS } from '@/testing/later-steps'
import { atStatement } from '@/testing/statements'
import { registerApp } from '../applications/manage'
import { readDeletionCounts } from '../deletion-counts'
import { DELETION_MAP } from './deletion-map'
import { previewWithdrawal } from './preview-withdrawal'
import { runDeletionStep } from './run-deletion-step'

const day = 86_400_000

/** SQL that inserts `$2` rows for the person `$1`. */
const FILL: Record<string, string> = {
  events: `INSERT INTO events (id, type, user_id, data, version, occurred_at)
    SELECT $1 || n, 'account.email_changed', $1, '{}', n, now() FROM generate_series(1, $2) n`,
  withdrawal_blockers: `INSERT INTO withdrawal_blockers (user_id, source, key, code, title, created_at, expires_at)
    SELECT $1, 'shop', n, '', '', now(), '2026-01-01' FROM generate_series(1, $2) n`,
  profiles: `INSERT INTO profiles (user_id) SELECT $1 WHERE $2 > 0`,
  preferences: `INSERT INTO preferences SELECT $1, n, '' FROM generate_series(1, $2) n`,
  sessions: `INSERT INTO sessions (id, user_id, user_agent, ip, created_at, last_seen_at, expires_at)
    SELECT $1 || n, $1, '', '', now(), now(), now() FROM generate_series(1, $2) n`,
  access_tokens: `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
    SELECT $1 || n, $1, '', sha256(('token ' || $1 || n)::bytea), '{}', now(), now() FROM generate_series(1, $2) n`,
  reauth_requests: `INSERT INTO reauth_requests (id, session_id, user_id, purpose, started_at)
    SELECT $1 || n, '', $1, '', now() FROM generate_series(1, $2) n`,
  notices: `INSERT INTO notices (id, user_id, kind, created_at) SELECT $1 || n, $1, 'email_changed', now() FROM generate_series(1, $2) n`,
  mail_deliveries: `INSERT INTO mail_deliveries (id, message_id, user_id, kind, address_mac, state, sent_at, state_at)
    SELECT $1 || n, '', $1, 'verification', '', 'sent', now(), now() FROM generate_series(1, $2) n`,
  email_change_requests: `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac,
      requested_at, request_ip, sent_at, expires_at)
    SELECT $1 || n, $1, 'verified', '', '', '', '', '', now(), '', now(), now() FROM generate_series(1, $2) n`,
  rate_limits: `INSERT INTO rate_limits (key, user_id, hits, places, window_ms, granted, expires_at)
    SELECT CASE WHEN n % 2 = 0 THEN 'withdraw:' || $1 ELSE 'other:' || $1 END, $1, '{}', 1, 1, true, now()
    FROM generate_series(1, least($2, 2)) n`,
  transaction_audit_logs: `INSERT INTO transaction_audit_logs SELECT $1 || n, $1, '', '', '', '', now() FROM generate_series(1, $2) n`,
  security_incidents: `INSERT INTO security_incidents SELECT $1 || n, $1, '', '', '', now() FROM generate_series(1, $2) n`,
  legal_records: `INSERT INTO legal_records SELECT $1 || n, $1, '', '', now() FROM generate_series(1, $2) n`,
  shared_items: `INSERT INTO shared_items SELECT $1 || n, $1, 'app_1', '', now() FROM generate_series(1, $2) n`,
  app_connections: `INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
    SELECT $1 || id, $1, id, '', now() FROM connected_apps ORDER BY id LIMIT $2`,
  archives: `INSERT INTO archives (id, user_id, object_key, bytes, created_at) SELECT $1 || n, $1, $1 || n, 1, now() FROM generate_series(1, $2) n`,
  archive_keys: `INSERT INTO archive_keys SELECT $1, '', now() WHERE $2 > 0`,
  analytics_events: `INSERT INTO analytics_events SELECT $1 || n, $1, '', '{}', now() FROM generate_series(1, $2) n`,
  communication_logs: `INSERT INTO communication_logs SELECT $1 || n, $1, '', '', '', now() FROM generate_series(1, $2) n`,
  integration_logs: `INSERT INTO integration_logs SELECT $1 || n, $1, '', '', '', now() FROM generate_series(1, $2) n`,
  audit_events: `INSERT INTO audit_events (id, user_id, action, actor, at) SELECT $1 || n, $1, '', '', now() FROM generate_series(1, $2) n`,
  transactions: `INSERT INTO transactions SELECT $1 || n, $1, 'settled', '', 1, now() FROM generate_series(1, $2) n`,
  cache_entries: `INSERT INTO cache_entries SELECT $1 || n, $1, '', now() FROM generate_series(1, $2) n`,
}
const TABLES = Object.keys(FILL)

async function givenRows(ctx: TestContext, userId: string, rows: Record<string, number>) {
  for (const [table, many] of Object.entries(rows)) {
    // Two texts, because PostgreSQL derives one type for a parameter.
    const text = (FILL[table] as string).replaceAll('$2', String(many)).replaceAll('$1', '$1::text')
    await ctx.db.$executeRawUnsafe(text, userId)
  }
}

const path = (user: TestUser) => ({ userId: user.userId })
const preview = async (ctx: TestContext, user: TestUser, query: object = {}) =>
  previewWithdrawal(await asUser(ctx, user), { ...path(user), ...query })

/** The rows that the steps deleted and kept, in the form of the preview. */
async function run(ctx: TestContext, user: TestUser, choices: object) {
  const { id: withdrawalId } = await withdrawAs(ctx, user, { data_retention: choices })
  for (const step of LATER_STEPS) {
    ctx.clock.advance(day)
    await runDeletionStep(ctx, { withdrawalId, step })
  }
  const { purgeDueAt, completedAt } = await ctx.db.withdrawal.findUniqueOrThrow({ where: { id: withdrawalId } })
  expect(completedAt).not.toBeNull()
  const until = purgeDueAt.toISOString()
  const counts = await ctx.sql(readDeletionCounts, { withdrawalId })
  return {
    erased: counts.filter(({ outcome }) => outcome === 'erased').map(({ outcome: _, ...count }) => count),
    retained: counts
      .filter(({ outcome }) => outcome !== 'erased')
      .map(({ step: _, outcome: reason, ...count }) => ({ ...count, reason, until })),
  }
}

/** In one order. */
const sorted = <T extends { category: string; step?: string; records: number }>(counts: readonly T[]) =>
  counts.toSorted((a, b) => (`${a.category} ${a.step} ${a.records}` < `${b.category} ${b.step} ${b.records}` ? -1 : 1))

const YES_OR_NO = [true, false]
const EVERY_CHOICE = YES_OR_NO.flatMap((analytics) =>
  YES_OR_NO.flatMap((audit_logs) =>
    YES_OR_NO.map((transaction_history) => ({ analytics, audit_logs, transaction_history })),
  ),
)

test('every table that a step erases is filled by this test', () => {
  const erased = DELETION_MAP.filter(({ when, table }) => when !== 'purge' && table !== 'users')
  expect([...new Set(erased.map(({ table }) => table))].sort()).toEqual([...TABLES].sort())
})

test('I13 for any person and any choices, the preview counts what the steps then delete and keep', async () => {
  const ctx = await testContext()
  for (const name of ['one', 'two', 'three']) {
    await registerApp(ctx, { name, endpoint: `https://${name}.test/hook`, secret: 'whsec_c2VjcmV0' })
  }
  const rows = fc.record(Object.fromEntries(TABLES.map((table) => [table, fc.nat({ max: 3 })])))
  for (const keeps of EVERY_CHOICE) {
    const holds = fc.asyncProperty(rows, async (many) => {
      await ctx.db.$executeRaw`TRUNCATE users, withdrawals, transactions, archives, shared_items CASCADE`
      const user = await givenUser(ctx)
      await givenRows(ctx, user.userId, many)
      const asked = Object.fromEntries(Object.entries(keeps).map(([name, kept]) => [name, String(kept)]))
      const before = await preview(ctx, user, asked)
      const after = await run(ctx, user, keeps)
      expect(sorted(before.erased)).toEqual(sorted(after.erased))
      expect(sorted(before.retained)).toEqual(sorted(after.retained))
    })
    await fc.assert(holds, { numRuns: 2 })
  }
}, 120_000)

test('a preview counts up to ten thousand and says when there are more', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await givenRows(ctx, user.userId, { analytics_events: 10_000, cache_entries: 10_001, security_incidents: 12_000 })
  const { erased, retained } = await preview(ctx, user)
  expect(erased).toContainEqual({ category: 'analytics', records: 10_000, step: 'data_archives' })
  expect(erased).toContainEqual({ category: 'caches', records: 10_000, more: true, step: 'data_archives' })
  expect(retained).toContainEqual({
    category: 'security_incidents',
    records: 10_000,
    more: true,
    reason: 'law',
    until: '2026-12-20T09:00:00.000Z',
  })
})

test('a preview shows the times, the applications and the last change of the address, and changes nothing', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { appId } = await registerApp(ctx, { name: 'Shop', endpoint: 'https://shop.test', secret: 'whsec_c2VjcmV0' })
  const connection = { id: `con_${appId}`, userId: user.userId, appId, subject: 'ada', connectedAt: ctx.clock.now() }
  await ctx.db.appConnection.create({ data: connection })
  await givenRows(ctx, user.userId, { email_change_requests: 1 })
  expect(await preview(ctx, user)).toMatchObject({ address_changed_at: null })
  await ctx.db
    .$executeRaw`UPDATE email_change_requests SET new_email = 'other', closed_at = '2026-11-19T09:00:00Z' WHERE user_id = ${user.userId}`
  const seen = await preview(ctx, user)
  expect(seen).toMatchObject({
    allowed: true,
    blockers: [],
    applications: [{ name: 'Shop', acknowledges: 'at_once' }],
    address_changed_at: '2026-11-19T09:00:00.000Z',
    counted_at: '2026-11-20T09:00:00.000Z',
  })
  expect(seen.deletion_steps.map(({ step }) => step)).toEqual([...STEPS])
  expect(seen.deletion_steps[0]).toEqual({
    step: 'user_profile',
    begins_at: '2026-11-20T09:05:00.000Z',
    estimated_completion: '2026-11-20T10:00:00.000Z',
  })
  expect(await ctx.db.withdrawal.count({ where: { userId: user.userId } })).toBe(0)
  expect(await preview(ctx, user)).toEqual(seen)
})

test('a preview that cannot count is refused, and never leaves a number out', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const broken = atStatement(ctx, 'preview-withdrawal', () => Promise.reject(new Error('no such table')))
  expect(await outcomeOf(preview(broken, user))).toBe('SERVER_002')
  expect(ctx.warnings).toEqual([{ event: 'preview_failed', problem: 'Error' }])
})
