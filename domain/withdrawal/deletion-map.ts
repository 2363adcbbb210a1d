import type { Step } from '@/contract/withdrawal'

/** What asks for a table's rows to stay until the purge: the law, or the person's own choice. */
export type KeptFor = 'law' | 'analytics' | 'audit_logs' | 'transaction_history'

export interface Erasure {
  table: string
  /** The step that deletes the rows; `purge` ends the retention. */
  when: Step | 'purge'
  /** The rows that this entry means; all of the user's without it. */
  where?: string
  /** Kept under the pseudonym until the purge, these columns alone: none of them can hold an address, a name or an IP. */
  kept?: { for: KeptFor; facts: string[] }
}

/** Every table that refers to a user. A table that is missing here fails a test. */
export const DELETION_MAP: readonly Erasure[] = [
  { table: 'profiles', when: 'user_profile' },
  { table: 'preferences', when: 'user_profile' },
  { table: 'sessions', when: 'user_profile' },
  { table: 'access_tokens', when: 'user_profile' },
  { table: 'notices', when: 'user_profile', where: 'withdrawal_id IS NULL' },
  { table: 'email_change_requests', when: 'user_profile' },
  { table: 'rate_limits', when: 'user_profile' },
  { table: 'transaction_audit_logs', when: 'user_profile', kept: { for: 'law', facts: ['transaction_id', 'action'] } },
  { table: 'security_incidents', when: 'user_profile', kept: { for: 'law', facts: ['kind'] } },
  { table: 'legal_records', when: 'user_profile', kept: { for: 'law', facts: ['kind'] } },
  { table: 'users', when: 'user_profile' },

  // The part of an application that has been told is gone by then.
  { table: 'shared_items', when: 'third_party_integrations' },
  { table: 'app_connections', when: 'third_party_integrations' },

  { table: 'archives', when: 'data_archives' },
  { table: 'archive_keys', when: 'data_archives' },
  { table: 'analytics_events', when: 'data_archives', kept: { for: 'analytics', facts: ['name'] } },
  { table: 'communication_logs', when: 'data_archives', kept: { for: 'audit_logs', facts: ['channel'] } },
  { table: 'integration_logs', when: 'data_archives', kept: { for: 'audit_logs', facts: ['app_id', 'action'] } },
  { table: 'audit_events', when: 'data_archives', kept: { for: 'audit_logs', facts: ['action', 'actor'] } },
  {
    table: 'transactions',
    when: 'data_archives',
    kept: { for: 'transaction_history', facts: ['status', 'amount_cents'] },
  },
  { table: 'cache_entries', when: 'data_archives' },
  { table: 'notices', when: 'data_archives' },

  // The window of an Idempotency-Key and the right to read one's own progress outlast the steps.
  { table: 'idempotency_keys', when: 'purge' },
  { table: 'ended_credentials', when: 'purge' },
]

/** Tables that hold no user's data, or that the purge itself clears. */
export const TABLES_WITHOUT_ERASURE: Record<string, string> = {
  connected_apps: 'the applications themselves',
  withdrawals: 'the purge clears feedback and, once no erasure is left, the user id; id, reason and times stay',
  deletion_steps: 'times and states of a withdrawal',
  app_notifications:
    "the application's own id of the user is cleared once it knows; the purge deletes the rows of those that do",
  events: 'withdrawal ids; the purge deletes them',
  event_deliveries: "the application's own id of the user is cleared once it is delivered; the purge deletes the rows",
  retained_records: 'what had to stay; the purge deletes it',
  outbox_events: 'withdrawal ids; deleted once the engine has them',
}

/** What tells a user's rows apart, where that is not `id`; `user_id` where there is one row at most. */
export const KEY_COLUMN: Record<string, string> = {
  profiles: 'user_id',
  preferences: 'key',
  rate_limits: 'key',
  cache_entries: 'key',
  archive_keys: 'user_id',
  idempotency_keys: 'key',
  ended_credentials: 'credential_hash',
}

/** When a row of these tables happened; the others keep it in `at`. */
export const TIME_COLUMN: Record<string, string> = { transactions: 'created_at' }
