import { expect, test } from 'vitest'
import { DELETION_MAP } from '@/domain/withdrawal/deletion-map'
import { EXPORTED } from '@/domain/withdrawal/export-data'
import { testContext } from '@/testing/domain'

/** What the export leaves out of the rows that it gives, by reason. Ids of a row, of the account and of rows beside it are left out everywhere. */
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

/** Columns that name a row of another table without a foreign key, by reason. */
const WITHOUT_FOREIGN_KEY: Record<string, string[]> = {
  'rows of a person that outlive the account until the step that erases them': [
    ...new Set(DELETION_MAP.map(({ table }) => `${table}.user_id`)),
    'notices.withdrawal_id',
    'withdrawals.user_id',
  ],
  'what it names may go first, and is then unknown': [
    'audit_events.actor_id',
    'audit_events.subject_id',
    'deletion_tasks.app_id',
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
    WHERE table_schema = 'public' ORDER BY 1`
}

const isId = (column: string) => /(^|_)id$/.test(column)

test('the export gives every column of a table that it gives, or a reason stands here why it leaves it out', async () => {
  const given = new Map(
    EXPORTED.flatMap(({ statements }) => statements).map(({ name, text }) => [
      name.replace('read-exported-', ''),
      /json_build_object\((.*?)\)::text AS record/s.exec(text)?.[1]?.replaceAll(/'\w+',/g, '') ?? '',
    ]),
  )
  expect(given.size).toBeGreaterThan(20)
  const left = (await columns()).filter(({ table, column }) => {
    const members = given.get(table)
    return members !== undefined && !isId(column) && !new RegExp(`\\b${column}\\b`).test(members)
  })
  expect(
    left.map(({ name }) => name),
    'Give the column in `exported` of its deletion step, or name it in LEFT_OUT of this file.',
  ).toEqual(Object.values(LEFT_OUT).flat().toSorted())
})

test('every column that names another row has a foreign key, or a reason stands here why it has none', async () => {
  const loose = (await columns()).filter(({ column, refers }) => column.endsWith('_id') && !refers)
  const declared = Object.values(WITHOUT_FOREIGN_KEY).flat()
  expect(
    loose.map(({ name }) => name).filter((name) => !declared.includes(name)),
    'Give the column a foreign key in its migration, or name it in WITHOUT_FOREIGN_KEY of this file.',
  ).toEqual([])
})
