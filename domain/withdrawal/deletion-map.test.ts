import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { APP_PHASES, STEPS } from '@/contract/withdrawal'
import { givenUser, type TestContext, testContext } from '@/testing/domain'
import { givenRows, oneIn, ROWS } from '@/testing/rows'
import { givenConnectedApps, withdrawAs } from '@/testing/withdrawals'
import { writeArchive } from '../applications/archives'
import type { ErasurePhase } from '../deletion-counts'
import { day } from '../limits/durations'
import { DELETION_MAP, erasuresOf } from './deletion-map'
import { purgeRetainedData } from './purge-retained-data'
import { runDeletionStep } from './run-deletion-step'

/** The tables that each step empties, and those that the purge empties. A new table with a person's data must be added here. */
const EMPTIED_BY: Record<ErasurePhase, string[]> = {
  session_revocation: [],
  user_profile: [
    'access_tokens',
    'email_change_requests',
    'events',
    'legal_records',
    'mail_deliveries',
    'preferences',
    'profiles',
    'rate_limits',
    'reauth_requests',
    'security_incidents',
    'sessions',
    'sign_ins',
    'transaction_audit_logs',
    'users',
    'withdrawal_blockers',
  ],
  third_party_integrations: ['app_connections', 'shared_items'],
  data_archives: [
    'analytics_events',
    'archive_keys',
    'archives',
    'audit_events',
    'cache_entries',
    'communication_logs',
    'integration_logs',
    'notices',
    'transactions',
  ],
  purge: ['ended_credentials', 'ended_external_ids', 'idempotency_keys'],
}

test.each(STEPS)('glossary and operations name the step %s', (step) => {
  for (const document of ['docs/glossary.md', 'docs/operations.md']) {
    expect(readFileSync(document, 'utf8'), document).toMatch(new RegExp(`\\b${step}\\b`))
  }
})

test('every step but session_revocation erases something, and applications can have tasks in exactly these steps', () => {
  const erasing = STEPS.filter((step) => erasuresOf(step).length > 0)
  expect(erasing).toEqual(STEPS.filter((step) => step !== 'session_revocation'))
  expect(APP_PHASES).toEqual(erasing)
})

/** The tables of the map that hold a row of the person. */
async function filledTables(ctx: TestContext, userId: string): Promise<string[]> {
  const filled: string[] = []
  for (const table of new Set(DELETION_MAP.map(({ table }) => table))) {
    const key = table === 'users' ? 'id' : 'user_id'
    const rows = await ctx.db.$queryRawUnsafe<object[]>(`SELECT 1 FROM ${table} WHERE ${key} = $1 LIMIT 1`, userId)
    if (rows.length > 0) filled.push(table)
  }
  return filled.sort()
}

test('B32 every table with data of a person is emptied by its own step, and by no other', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { userId } = user
  await ctx.db.user.update({ where: { id: userId }, data: { externalId: 'customer-42' } })
  await givenConnectedApps(ctx, user, ['shop'])
  await writeArchive(ctx, userId)
  const inserted = Object.keys(ROWS).filter((table) => !/^(app_connections|archives|archive_keys)$/.test(table))
  await givenRows(ctx, userId, oneIn(inserted))
  const [startedAt, expiresAt] = [ctx.clock.now(), ctx.clock.now()]
  await ctx.db.idempotencyKey.create({
    data: { key: 'first call', userId, bodyMac: Buffer.from(''), startedAt, expiresAt },
  })
  const { id: withdrawalId } = await withdrawAs(ctx, user)

  let before = await filledTables(ctx, userId)
  expect(before, 'This test must give the person a row in each new table of a deletion step.').toEqual(
    [...new Set(DELETION_MAP.map(({ table }) => table))].sort(),
  )
  const emptied: Partial<Record<ErasurePhase, string[]>> = {}
  const note = async (phase: ErasurePhase) => {
    const after = await filledTables(ctx, userId)
    emptied[phase] = before.filter((table) => !after.includes(table))
    before = after
  }
  for (const step of STEPS) {
    ctx.clock.advance(day)
    await runDeletionStep(ctx, { withdrawalId, step })
    await note(step)
  }
  ctx.clock.advance(30 * day)
  await purgeRetainedData(ctx)
  await note('purge')
  expect(emptied, 'Write what each step empties in EMPTIED_BY of this file.').toEqual(EMPTIED_BY)
})

/** Tables that hold no user's data, or that the purge itself clears. */
const TABLES_WITHOUT_ERASURE: Record<string, string> = {
  connected_apps: 'the applications themselves',
  service_tokens: "tokens of the adopter's services, which act for no user",
  link_requests: 'an encrypted address; deleted as soon as it is looked up, which takes a minute at most',
  withdrawal_receipts:
    'signed statements about a withdrawal, which name nobody; the cleanup deletes them after 24 months',
  signing_keys: 'keys of the service',
  audit_collector: 'how far the audit was sent to the collector of telemetry',
  erasure_ledger: 'the end of the chain of the ledger',
  erasure_ledger_batches: 'lines of the ledger under a pseudonym; deleted once the store has them',
  withdrawals: 'the purge clears feedback and, once no erasure is left, the user id; id, reason and times stay',
  deletion_steps: 'times and states of a withdrawal',
  deletion_counts:
    'numbers of a withdrawal: how many records of each category its steps deleted and kept; deleted with its last receipt',
  deletion_tasks:
    "the application's own id of the user is cleared once the task is over; the purge deletes the rows of those that are",
  event_deliveries:
    'what is still to be told holds its subject sealed once the account is erased; the rows go with their event, at the latest after thirty days',
  retained_records: 'what had to stay; the purge deletes it',
  outbox_events: 'withdrawal ids; deleted once the engine has them',
}

test("every table is in the deletion map, or is named as holding no user's data", async () => {
  const ctx = await testContext()
  const tables = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`
  const known = new Set([...DELETION_MAP.map(({ table }) => table), ...Object.keys(TABLES_WITHOUT_ERASURE)])
  expect(
    tables.map(({ name }) => name).filter((name) => !known.has(name)),
    'Add the table to the deletion step that erases it, or, if it holds no data of a user, to TABLES_WITHOUT_ERASURE of this file.',
  ).toEqual([])
})

test('B31 every table with a user id is in the map, except the withdrawal itself', async () => {
  const ctx = await testContext()
  const tables = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'user_id'`
  const excused = tables.map(({ name }) => name).filter((name) => name in TABLES_WITHOUT_ERASURE)
  expect(excused, 'A table with a user id belongs in a deletion step, not in TABLES_WITHOUT_ERASURE.').toEqual([
    'withdrawals',
  ])
})

test('no column that can hold an address, a name or an IP is kept', () => {
  const kept = DELETION_MAP.flatMap(({ table, kept }) => (kept?.facts ?? []).map((column) => `${table}.${column}`))
  expect(
    kept.filter((column) => /name$|email|ip$|recipient|details|description|properties|content/.test(column)),
  ).toEqual([
    // The type of an event, such as page.viewed.
    'analytics_events.name',
  ])
})

test("autovacuum runs on every table with a user's data after one deletion in ten thousand rows", async () => {
  const ctx = await testContext()
  const tables = [
    ...new Set(DELETION_MAP.map(({ table }) => table)),
    'withdrawals',
    'link_requests',
    'deletion_tasks',
    'event_deliveries',
    'retained_records',
  ]
  const cared = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
    WHERE reloptions @> ARRAY['autovacuum_vacuum_threshold=0', 'autovacuum_vacuum_scale_factor=0.0001']`
  expect(
    cared.map(({ name }) => name).sort(),
    'Give a new table with data of a user the autovacuum settings of the other tables in its migration. If it stands in no deletion step, add it to `tables` here as well.',
  ).toEqual(tables.sort())
})
