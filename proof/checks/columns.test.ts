import { expect, test } from 'vitest'
import { DELETION_MAP } from '@/domain/withdrawal/deletion-map'
import { EXPORTED } from '@/domain/withdrawal/export-data'
import { testContext } from '@/testing/domain'

/** What the export leaves out of the rows that it gives, by reason, beside `id` and `user_id`. */
const LEFT_OUT: Record<string, string[]> = {
  'a secret, or the hash or the sealed form of one': [
    'access_tokens.token_hash',
    'archives.object_key',
    'email_change_requests.code_mac',
    'email_change_requests.target_bucket',
    'mail_deliveries.address_mac',
    'notices.sealed',
    'sign_ins.device',
    'users.ledger_mark',
    'users.password_hash',
  ],
  'it may be of somebody else, who changed, attacked or worked on the account': [
    'audit_events.ip',
    'audit_events.requested_by',
    'email_change_requests.closed_ip',
    'email_change_requests.closed_user_agent',
    'email_change_requests.request_ip',
    'email_change_requests.request_user_agent',
    'email_change_requests.requested_by',
    'legal_records.details',
    'security_incidents.ip',
    'transaction_audit_logs.actor_name',
    'transaction_audit_logs.ip',
  ],
  'the id of a row beside it': [
    'audit_events.actor_id',
    'audit_events.subject_id',
    'events.withdrawal_id',
    'mail_deliveries.change_request_id',
    'notices.change_request_id',
    'notices.withdrawal_id',
    'reauth_requests.session_id',
    'sign_ins.notice_id',
    'sign_ins.session_id',
  ],
  'a copy of what the export gives, or which of two addresses it is': [
    'email_change_requests.new_email_key',
    'email_change_requests.old_email_key',
    'events.data',
    'mail_deliveries.recipient',
    'notices.locale',
    'notices.recipient',
    'users.email_key',
    'withdrawal_blockers.key',
  ],
  'how far the service is with its work': [
    'app_connections.disabled_at',
    'archives.removing_at',
    'archives.stored_at',
    'email_change_requests.account_version',
    'email_change_requests.attempts',
    'email_change_requests.delivery',
    'email_change_requests.expires_at',
    'email_change_requests.method',
    'email_change_requests.old_verified_at',
    'email_change_requests.reverted_at',
    'email_change_requests.sent_at',
    'events.version',
    'notices.attempts',
    'notices.due_at',
    'notices.expires_at',
    'notices.failed_at',
    'sessions.authenticated_at',
    'sessions.authenticated_for',
    'sign_ins.link_until',
    'users.credential_version',
    'users.credentials_since',
    'users.email_undeliverable_at',
    'users.frozen_at',
    'users.never_signed_in',
    'users.role',
    'users.version',
    'users.withdrawn_at',
  ],
}

/** The columns of every table that the export does not give: `exported` of its deletion step, or TABLES_WITHOUT_ERASURE, says why. */
const NOT_GIVEN: Record<string, string> = {
  archive_keys: 'created_at sealed_key user_id',
  audit_collector: 'after after_id id leased_until',
  cache_entries: 'expires_at key user_id value',
  connected_apps: `
    acknowledge_within_s acknowledges audience categories checks confirms created_at disabled_at endpoint events
    hosts id includes name phase previous_secret_until reasons sealed_previous_secret sealed_secret silent_at
    waive_reasons waived_at waived_error`,
  deletion_counts: 'category outcome records step withdrawal_id',
  deletion_steps: `
    attempts completed_at due_at erased_at estimated_completion is_counted last_error lease_until status step
    withdrawal_id`,
  deletion_tasks: `
    absent_at accepted_at acknowledges app_id app_name attempts checked_at completed_at confirms due_at
    failure_code first_tried_at id last_error last_status lease_until phase progress_done progress_total records
    retained sealed_account sealed_subject status subject times_present waived_at waived_code waived_reason
    waived_sentence withdrawal_id`,
  ended_credentials: 'credential_hash expires_at made_the_call scopes user_id withdrawal_id',
  ended_external_ids: 'expires_at external_id_mac next_version user_id withdrawal_id',
  erasure_ledger: 'at batch_seq hash id origin replayed seq',
  erasure_ledger_batches: 'first_seq lines',
  event_deliveries: `
    app_id attempts created_at dead_at delivered_at due_at event_id id last_error last_status lease_until
    retry_until sealed_data status subject took_ms tried_at`,
  idempotency_keys: 'answer body_mac expires_at key started_at user_id',
  link_requests: 'due_at id requested_at sealed',
  outbox_events: 'attempts created_at data due_at id name sent_at',
  rate_limits: 'expires_at granted hits key places user_id window_ms',
  retained_records: 'at facts id pseudonym source withdrawal_id',
  service_tokens: 'app_id created_at expires_at hosts id last_used_at name revoked_at scopes token_hash',
  signing_keys: 'created_at kid number public_key sealed_private signs_from',
  withdrawal_receipts: 'issued_at kind receipt withdrawal_id',
  withdrawals: `
    completed_at due_by feedback id keep_analytics keep_audit_logs keep_transaction_history ledger_hash
    ledger_seq ledgered_at purge_due_at purged_at reason receipt_due_at scheduled_completion sealed_subjects
    started_at user_id`,
}

/** Columns that name a row of another table without a foreign key, by reason; a `user_id` is held by the deletion map. */
const WITHOUT_FOREIGN_KEY: Record<string, string[]> = {
  'rows that outlive what they name, until the step that erases them': ['notices.withdrawal_id', 'withdrawals.user_id'],
  'what it names may go first, and is then unknown': [
    'audit_events.actor_id',
    'audit_events.requested_by',
    'audit_events.subject_id',
    'deletion_tasks.app_id',
    'email_change_requests.requested_by',
    'ended_credentials.withdrawal_id',
    'ended_external_ids.withdrawal_id',
    'integration_logs.app_id',
    'mail_deliveries.change_request_id',
    'reauth_requests.session_id',
    'retained_records.withdrawal_id',
    'service_tokens.app_id',
    'shared_items.app_id',
    'sign_ins.notice_id',
    'sign_ins.session_id',
    'transaction_audit_logs.transaction_id',
  ],
  'it names nothing of this database': ['audit_collector.after_id', 'mail_deliveries.message_id', 'users.external_id'],
}

/** Every column of the database, such as `users.email`, and whether it is in a foreign key. */
async function columns() {
  const ctx = await testContext()
  return ctx.db.$queryRaw<{ name: string; table: string; column: string; refers: boolean }[]>`
    SELECT table_name || '.' || column_name AS name, table_name AS table, column_name AS column, EXISTS (
      SELECT FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
      WHERE k.contype = 'f' AND k.conrelid = table_name::regclass AND a.attname = column_name
    ) AS refers
    FROM information_schema.columns JOIN pg_tables ON schemaname = table_schema AND tablename = table_name
    WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' ORDER BY 1`
}

/** The expressions of the members that the export gives of each table. */
const given = new Map(
  EXPORTED.flatMap(({ statements }) => statements).map(({ name, text }) => [
    name.replace('read-exported-', ''),
    /json_build_object\((.*?)\)::text AS record/s.exec(text)?.[1]?.replaceAll(/'\w+',/g, '') ?? '',
  ]),
)

test('the export gives every column of a table that it gives, or a reason stands here why it leaves it out', async () => {
  expect(given.size).toBeGreaterThan(20)
  const left = (await columns()).filter(({ table, column }) => {
    const members = given.get(table)
    return members !== undefined && !['id', 'user_id'].includes(column) && !new RegExp(`\\b${column}\\b`).test(members)
  })
  expect(
    left.map(({ name }) => name),
    'Give the column in `exported` of its deletion step, or name it in LEFT_OUT of this file.',
  ).toEqual(Object.values(LEFT_OUT).flat().toSorted())
})

test('every column of a table that the export does not give stands here', async () => {
  const others = Map.groupBy(
    (await columns()).filter(({ table }) => !given.has(table)),
    ({ table }) => table,
  )
  const found = [...others].map(([table, all]) => [table, all.map(({ column }) => column)])
  expect(
    Object.fromEntries(found),
    'Is the new column of a person? Then a deletion step clears it, and the export gives it or cannot. Name it in NOT_GIVEN of this file.',
  ).toEqual(Object.fromEntries(Object.entries(NOT_GIVEN).map(([table, names]) => [table, names.trim().split(/\s+/)])))
})

test('every column that names another row has a foreign key, or a reason stands here why it has none', async () => {
  const ofPeople = new Set(DELETION_MAP.map(({ table }) => `${table}.user_id`))
  const loose = (await columns()).filter(
    ({ name, refers }) => /(?:_id|ed_by)$/.test(name) && !refers && !ofPeople.has(name),
  )
  expect(
    loose.map(({ name }) => name),
    'Give the column a foreign key in its migration, or name it in WITHOUT_FOREIGN_KEY of this file. Take out what has one.',
  ).toEqual(Object.values(WITHOUT_FOREIGN_KEY).flat().toSorted())
})
