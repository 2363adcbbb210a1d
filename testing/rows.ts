import type { DeletionCount } from '@/domain/deletion-counts'
import { integer, sql, statement, text } from '@/domain/sql'
import type { TestContext } from './domain'

/** The counts of a withdrawal's deletion steps. */
export const readDeletionCounts = statement(
  'deletion-counts',
  { withdrawalId: text },
  {
    step: text.of<DeletionCount['step']>(),
    category: text.of<DeletionCount['category']>(),
    outcome: text.of<DeletionCount['outcome']>(),
    records: integer,
  },
  (v) => sql`SELECT step, category, outcome, records FROM deletion_counts WHERE withdrawal_id = ${v.withdrawalId}`,
)

/** SQL that inserts `$2` rows for the person `$1`, whose texts are `$3`. No id names the person. A new table that a deletion step empties stands here. */
export const ROWS: Record<string, string> = {
  events: `INSERT INTO events (id, type, user_id, data, version, occurred_at)
    SELECT md5($1 || n), 'account.email_changed', $1, '{}', n, now() FROM generate_series(1, $2) n`,
  // Expired, because it would otherwise hold a withdrawal back.
  withdrawal_blockers: `INSERT INTO withdrawal_blockers (user_id, source, key, code, title, created_at, expires_at)
    SELECT $1, 'shop', n, '', '', now(), '2026-01-01' FROM generate_series(1, $2) n`,
  profiles: `INSERT INTO profiles (user_id, phone, birth_date, address, bio) SELECT $1, $3, $3, $3, $3 WHERE $2 > 0`,
  preferences: `INSERT INTO preferences SELECT $1, $3 || n, $3 FROM generate_series(1, $2) n`,
  sessions: `INSERT INTO sessions (id, user_id, user_agent, ip, created_at, last_seen_at, expires_at)
    SELECT md5($1 || n), $1, $3, $3, now(), now(), now() + interval '1 day' FROM generate_series(1, $2) n`,
  access_tokens: `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
    SELECT md5($1 || n), $1, $3, sha256(('token ' || $1 || n)::bytea), '{}', now(), now() FROM generate_series(1, $2) n`,
  sign_ins: `INSERT INTO sign_ins (id, user_id, outcome, way, user_agent, ip, at)
    SELECT md5($1 || n), $1, 'signed_in', 'password', $3, $3, now() FROM generate_series(1, $2) n`,
  reauth_requests: `INSERT INTO reauth_requests (id, session_id, user_id, purpose, started_at)
    SELECT md5($1 || n), '', $1, '', now() FROM generate_series(1, $2) n`,
  notices: `INSERT INTO notices (id, user_id, kind, created_at) SELECT md5($1 || n), $1, 'email_changed', now() FROM generate_series(1, $2) n`,
  mail_deliveries: `INSERT INTO mail_deliveries (id, message_id, user_id, kind, address_mac, state, sent_at, state_at)
    SELECT md5($1 || n), $3, $1, 'verification', '', 'sent', now(), now() FROM generate_series(1, $2) n`,
  email_change_requests: `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac,
      requested_at, request_ip, sent_at, expires_at)
    SELECT md5($1 || n), $1, 'verified', '', $3, $3, $3, '', now(), $3, now(), now() FROM generate_series(1, $2) n`,
  rate_limits: `INSERT INTO rate_limits (key, user_id, hits, places, window_ms, granted, expires_at)
    SELECT CASE WHEN n % 2 = 0 THEN 'withdraw:' || $1 ELSE 'other:' || $1 END, $1, '{}', 1, 1, true, now()
    FROM generate_series(1, least($2, 2)) n`,
  transaction_audit_logs: `INSERT INTO transaction_audit_logs SELECT md5($1 || n), $1, '', '', $3, $3, now() FROM generate_series(1, $2) n`,
  security_incidents: `INSERT INTO security_incidents SELECT md5($1 || n), $1, '', $3, $3, now() FROM generate_series(1, $2) n`,
  legal_records: `INSERT INTO legal_records SELECT md5($1 || n), $1, '', $3, now() FROM generate_series(1, $2) n`,
  shared_items: `INSERT INTO shared_items SELECT md5($1 || n), $1, 'app_1', $3, now() FROM generate_series(1, $2) n`,
  app_connections: `INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
    SELECT md5($1 || id), $1, id, $3, now() FROM connected_apps ORDER BY id LIMIT $2`,
  archives: `INSERT INTO archives (id, user_id, object_key, bytes, created_at) SELECT md5($1 || n), $1, $1 || n, 1, now() FROM generate_series(1, $2) n`,
  archive_keys: `INSERT INTO archive_keys SELECT $1, '', now() WHERE $2 > 0`,
  analytics_events: `INSERT INTO analytics_events SELECT md5($1 || n), $1, '', jsonb_build_object('q', $3), now() FROM generate_series(1, $2) n`,
  communication_logs: `INSERT INTO communication_logs SELECT md5($1 || n), $1, '', $3, $3, now() FROM generate_series(1, $2) n`,
  integration_logs: `INSERT INTO integration_logs SELECT md5($1 || n), $1, '', '', $3, now() FROM generate_series(1, $2) n`,
  audit_events: `INSERT INTO audit_events (id, user_id, action, actor, ip, at)
    SELECT md5($1 || n), $1, '', '', $3, now() FROM generate_series(1, $2) n`,
  transactions: `INSERT INTO transactions SELECT md5($1 || n), $1, 'settled', $3, 1, now() FROM generate_series(1, $2) n`,
  cache_entries: `INSERT INTO cache_entries SELECT md5($1 || n), $1, $3, now() + interval '1 day' FROM generate_series(1, $2) n`,
}

/** Gives the person so many rows in each of these tables. */
export async function insertRows(
  run: (sql: string) => Promise<unknown>,
  userId: string,
  rows: Record<string, number>,
  text = '',
) {
  const values: Record<string, string> = { $1: `'${userId}'::text`, $3: `'${text}'::text` }
  for (const [table, many] of Object.entries(rows)) {
    await run((ROWS[table] as string).replaceAll(/\$[123]/g, (name) => values[name] ?? String(many)))
  }
}

export const givenRows = ({ db }: TestContext, userId: string, rows: Record<string, number>, text?: string) =>
  insertRows((sql) => db.$executeRawUnsafe(sql), userId, rows, text)

/** One row in each of these tables. */
export const oneIn = (tables: readonly string[]) => Object.fromEntries(tables.map((table) => [table, 1]))
