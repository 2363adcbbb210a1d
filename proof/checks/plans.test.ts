import { expect, test, vi } from 'vitest'
import { STEPS } from '@/contract/withdrawal'
import '@/server/local/demo-account'
import '@/server/adapters/clock'
import '@/server/watch/health'
import { openSession } from '@/server/adapters/database-session'
import { openClient } from '@/testing/database'
import { testDatabase } from '@/testing/domain'
import { STATEMENTS } from '@/testing/statements'

vi.mock('@/domain/sql', async (importOriginal) =>
  (await import('@/testing/statements')).notingStatements(importOriginal),
)

import.meta.glob(['../../domain/**/*.ts', '!**/*.test.ts'], { eager: true })

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

const EACH = 'FROM generate_series(1, 5000) n'
/** Many finished rows and no open ones. A plan that was made on them at night still has to be right in the morning. */
const HISTORY = [
  `INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
   SELECT 'usr_' || n, 'Person', n || '@example.test', n || '@example.test', now(), 'none', now() ${EACH}`,
  `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
   SELECT 'tok_' || n, 'usr_' || n, 'old', sha256(n::text::bytea), '{}', now(), now() ${EACH}`,
  `INSERT INTO sessions (id, user_id, created_at, expires_at, last_seen_at, ip, user_agent)
   SELECT 'ses_' || n, 'usr_' || n, now(), now(), now(), '', '' ${EACH}`,
  `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at, request_ip, sent_at, expires_at)
   SELECT 'ecr_' || n, 'usr_' || n, 'verified', 'email_code', '', '', '', '', now(), '', now(), now() ${EACH}`,
  `INSERT INTO notices (id, user_id, kind, created_at, sent_at)
   SELECT 'ntc_' || n, 'usr_' || n, 'email_changed', now(), now() ${EACH}`,
  `INSERT INTO audit_events (id, user_id, action, actor, at) SELECT 'aud_' || n, 'usr_' || n, '', '', now() ${EACH}`,
  `INSERT INTO rate_limits (key, user_id, hits, places, window_ms, granted, expires_at)
   SELECT n, 'usr_' || n, '{}', 1, 1, true, now() ${EACH}`,
  `INSERT INTO transactions (id, user_id, status, description, amount_cents, created_at) SELECT 'txn_' || n, 'usr_' || n, 'settled', '', 1, now() ${EACH}`,
  `INSERT INTO connected_apps (id, name, endpoint, sealed_secret, created_at) SELECT 'app_' || n, 'App', '', '', now() FROM generate_series(1, 500) n`,
  `INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
   SELECT 'con_' || n, 'usr_' || n, 'app_' || 1 + n % 500, '', now() ${EACH}`,
  `INSERT INTO withdrawals (id, keep_analytics, keep_audit_logs, keep_transaction_history, started_at, scheduled_completion, completed_at,
                            purge_due_at, purged_at, ledgered_at)
   SELECT 'wd_' || n, false, false, false, now(), now(), now(), now(), now(), now() ${EACH}`,
  `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, completed_at)
   SELECT 'wd_' || n, step, 'completed', now(), now()
   ${EACH}, unnest(ARRAY['${STEPS.join("', '")}']) step`,
  `INSERT INTO withdrawal_receipts (withdrawal_id, kind, receipt, issued_at)
   SELECT 'wd_' || n, kind, '', now() ${EACH}, unnest(ARRAY['acceptance', 'completion', 'purge']) kind`,
  `INSERT INTO deletion_tasks (id, withdrawal_id, app_id, app_name, status)
   SELECT 'msg_' || n, 'wd_' || n, 'app_' || 1 + n % 500, 'App', 'completed' ${EACH}`,
  `INSERT INTO events (id, type, withdrawal_id, data, version, occurred_at)
   SELECT 'evt_' || n, 'account.withdrawal_started', 'wd_' || n, '{}', 1, now() ${EACH}`,
  `INSERT INTO event_deliveries (id, event_id, app_id, status, delivered_at)
   SELECT 'dlv_' || n, 'evt_' || n, 'app_' || 1 + n % 500, 'delivered', now() ${EACH}`,
  `INSERT INTO outbox_events (id, name, data, created_at, sent_at) SELECT 'evt_' || n, '', '{}', now(), now() ${EACH}`,
  `INSERT INTO shared_items (id, user_id, app_id, content, shared_at) SELECT 'shi_' || n, 'usr_' || n, 'app_1', '', now() ${EACH}`,
  `INSERT INTO reauth_requests (id, session_id, user_id, purpose, started_at, used_at)
   SELECT 'rea_' || n, 'ses_' || n, 'usr_' || n, 'change', now(), now() ${EACH}`,
  `INSERT INTO sign_ins (id, user_id, outcome, way, user_agent, ip, at)
   SELECT 'sgn_' || n, 'usr_' || 1 + n % 50, 'refused', 'password', '', '', now() ${EACH}`,
  `INSERT INTO ended_external_ids SELECT 'wd_' || n, 'usr_' || n, sha256(n::text::bytea), now() ${EACH}`,
  'ANALYZE',
]

/**
 * The statements that may read a whole index or table, each with what it reads. Most read a partial index, which holds only the rows
 * that they look for. A count stops at a limit. A replay and a resealing have to read every row, a thousand at a time. The tables of
 * signing keys, of the ledger's head and of waiting lines are small. So is the table of applications, which is not listed.
 */
const READ_WHOLE = {
  // One part each for accounts without a mark, and with an earlier or later one.
  'accounts-without-mark': 'users_ledger_mark users_ledger_mark users_ledger_mark',
  'adopt-ledger-head': 'erasure_ledger',
  // Runs in a replay only, and reads the withdrawals without a line.
  'adopt-ledger-lines': 'withdrawals_to_ledger',
  'append-to-ledger': 'erasure_ledger',
  'claim-outbox-events': 'outbox_events_due',
  'clean-up-access-tokens': 'access_tokens_ended',
  'clean-up-audit-events': 'audit_events_with_ip',
  'clean-up-email-change-requests': 'email_change_requests_requested_at_idx',
  'clean-up-events': 'events_occurred',
  'clean-up-idempotency-keys': 'idempotency_keys_expires_at_idx',
  'clean-up-mail-deliveries': 'mail_deliveries_sent_at_idx',
  'clean-up-integration-logs': 'integration_logs_at_idx',
  'clean-up-notices': 'notices_of_accounts',
  'clean-up-outbox-events': 'outbox_events_sent',
  'clean-up-rate-limits': 'rate_limits_expires_at_idx',
  'clean-up-reauth-requests': 'reauth_requests_started_at_idx',
  'clean-up-sessions': 'sessions_ended',
  'clean-up-sign-ins': 'sign_ins_at_idx',
  'clean-up-signing-keys': 'signing_keys_pkey signing_keys_pkey',
  // The statement deletes rows by their ctid, which no index has.
  'clean-up-withdrawal-blockers': 'withdrawal_blockers_expires_at_idx withdrawal_blockers',
  'clean-up-withdrawal-receipts': 'withdrawal_receipts_issued_at_idx',
  'count-completed-withdrawals': 'withdrawals_completed',
  'count-dead-deliveries': 'event_deliveries_dead',
  'count-due-steps': 'deletion_steps_due',
  'count-failed-notices': 'notices_failed',
  'count-failing-steps': 'deletion_steps_due',
  'count-foreign-hashes': 'users_foreign_hashes',
  'count-open-steps': 'deletion_steps_due',
  'count-open-tasks': 'deletion_tasks_of_app, sorted',
  'count-outbox-events': 'outbox_events_due',
  'count-overdue-steps': 'deletion_steps_due',
  'count-present-tasks': 'deletion_tasks_tried',
  'count-processing-withdrawals': 'deletion_steps_due, sorted',
  'count-purged-withdrawals': 'withdrawals_purged',
  'count-silent-apps': 'deletion_tasks_tried, sorted',
  'count-undeliverable-accounts': 'users_email_undeliverable',
  'count-unwarned': 'mail_deliveries_unwarned',
  'count-waiting-deliveries': 'event_deliveries_due',
  'count-waiting-notices': 'notices_due',
  'count-withdrawals-due-soon': 'withdrawals_due_by',
  'count-withdrawals-past-due': 'withdrawals_due_by',
  'delete-earlier-private-keys': 'signing_keys_pkey',
  'delete-unstored-lines': 'erasure_ledger_batches withdrawals_ledger_seq',
  demo_user: 'users_ledger_mark',
  'due-calls': 'deletion_steps_due',
  'due-erasures': 'deletion_steps_due',
  'due-notices': 'notices_due',
  'due-link-requests': 'link_requests_due_at_idx',
  'due-receipts': 'withdrawals_receipts_due',
  'ended-tasks-of-app': 'withdrawals_to_purge, sorted',
  'expire-notices': 'notices_due',
  'export-users': 'users_pkey',
  'failing-apps': 'event_deliveries_dead, sorted',
  // Reads the ids between two, of which there are few.
  'ids-of-prefix': 'withdrawals_pkey users_pkey withdrawals_user_id_key transactions_pkey',
  'insert-public-keys': 'signing_keys_pkey signing_keys_kid_key, sorted',
  'ledger-batches': 'erasure_ledger_batches_pkey erasure_ledger',
  'ledger-head': 'erasure_ledger',
  'list-completed-withdrawals': 'withdrawals_completed',
  'list-foreign-kinds': 'users_foreign_hashes',
  'list-processing-withdrawals': 'withdrawals_due_by',
  'list-purged-withdrawals': 'withdrawals_purged',
  'lock-ledger-head': 'erasure_ledger',
  'mark-silent-apps': 'deletion_tasks_tried, sorted',
  'purges-due': 'withdrawals_to_purge',
  // Service tokens are few: the operator command makes each.
  'count-ending-service-tokens': 'service_tokens',
  'read-apps': 'service_tokens event_deliveries_dead, sorted',
  'read-audit': 'audit_events_at_id_idx',
  'receipt-facts': 'erasure_ledger_batches_pkey, sorted',
  'resend-dead-letters': 'event_deliveries_dead',
  'sealed-archive_keys': 'archive_keys_pkey',
  'sealed-event_data': 'event_deliveries_pkey',
  'sealed-idempotency_answers': 'idempotency_keys_pkey',
  'sealed-link_requests': 'link_requests_pkey',
  'sealed-signing_keys': 'signing_keys_kid_key',
  'sealed-task_accounts': 'deletion_tasks_pkey',
  'sealed-task_subjects': 'deletion_tasks_pkey',
  'sealed-withdrawal_confirmations': 'notices_pkey',
  'sealed-withdrawal_subjects': 'withdrawals_pkey',
  'signing-keys': 'signing_keys_pkey',
  'troubled-withdrawals': 'deletion_steps_due, sorted',
  // Few lines wait for the store, and none while the store answers.
  'count-ledger-batches': 'erasure_ledger_batches_pkey',
  'standing-ledger-lines': 'erasure_ledger erasure_ledger_batches_pkey',
  'undeliverable-accounts': 'users_email_undeliverable',
  'users-without-mark-after': 'users_pkey',
  'withdrawals-to-ledger': 'withdrawals_to_ledger',
}

test('every statement finds its rows by an index, even with a plan from a time when nothing was open', async () => {
  const client = await openClient((await testDatabase()).url)
  await openSession(client)
  for (const text of HISTORY) await client.query(text)

  const wholly: Record<string, string> = {}
  for (const [name, { text }] of STATEMENTS) {
    // It reads no table, so that it has no plan.
    if (text.startsWith('LOCK TABLE')) continue
    const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`)
    const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan)
    const read = nodes
      .filter(isWhole)
      .map((node) => node['Index Name'] ?? node['Relation Name'] ?? '')
      .filter((table) => !table.startsWith('connected_apps'))
    const isSorted = nodes.some((node) => node['Node Type'] === 'Sort')
    if (read.length > 0) wholly[name] = read.join(' ') + (isSorted ? ', sorted' : '')
  }
  expect(
    wholly,
    'A statement finds its rows by another plan than READ_WHOLE in this file says. If it looks for all rows that are open or over, add it with the index that it reads. If it looks rows up by a key, give it an index or hold the planner back by a part of domain/sql.ts.',
  ).toEqual(READ_WHOLE)
})

test('L26 a sweep reads no row of 10,000 tasks that were accepted and are not reported on', async () => {
  const client = await openClient((await testDatabase()).url)
  await openSession(client)
  const each = 'FROM generate_series(1, 10000) n'
  const silent = [
    `INSERT INTO withdrawals (id, keep_analytics, keep_audit_logs, keep_transaction_history, started_at, scheduled_completion, purge_due_at)
     SELECT 'wd_silent_' || n, false, false, false, now(), now(), now() + interval '30 days' ${each}`,
    `INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at, attempts)
     SELECT 'wd_silent_' || n, 'third_party_integrations', 'processing', now(), now() + interval '1 hour', 1 ${each}`,
    `INSERT INTO deletion_tasks (id, withdrawal_id, app_id, app_name, status, acknowledges, accepted_at, due_at, attempts)
     SELECT 'msg_silent_' || n, 'wd_silent_' || n, 'app_silent', 'App', 'processing', 'later', now(), now() + interval '1 hour', 1 ${each}`,
    'ANALYZE',
  ]
  for (const text of silent) await client.query(text)
  const queries: [string, unknown[]][] = [
    ['due-erasures', [new Date(), 100]],
    ['due-calls', [new Date(), true, 100]],
    ['due-calls', [new Date(), false, 100]],
    ['take-tasks', [new Date(Date.now() + 60_000), new Date(), 'app_silent', 100]],
  ]
  for (const [name, values] of queries) {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${STATEMENTS.get(name)?.text}`, values)
    const read = nodesOf(rows[0]['QUERY PLAN'][0].Plan).map(
      (node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0),
    )
    expect([name, Math.max(...read)]).toEqual([name, 0])
  }
})

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Whether the node reads the whole table or index, because no condition of equality bounds it. */
const isWhole = (node: PlanNode) =>
  ('Relation Name' in node || 'Index Name' in node) &&
  /Scan/.test(node['Node Type']) &&
  !/(?<![<>])= /.test(node['Index Cond'] ?? '')
