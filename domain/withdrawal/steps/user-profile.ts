import { keepUndeliveredEvents } from '../../applications/events'
import { hour, minute } from '../../limits/durations'
import { sql } from '../../sql'
import { amountOf, columns, type DeletionStep, utc } from './deletion-step'

/** Data deletion, 5–60 minutes: profile, credentials and preferences. */
export const userProfile: DeletionStep = {
  window: { dueMs: 5 * minute, estimateMs: hour },
  firstStatus: 'processing',
  before: keepUndeliveredEvents,
  erases: [
    {
      table: 'profiles',
      category: 'profile',
      key: 'user_id',
      exported: {
        kind: 'provided',
        members: columns('phone', 'birth_date', 'address', 'bio'),
        by: sql`user_id`,
      },
    },
    {
      table: 'preferences',
      category: 'preferences',
      key: 'key',
      exported: { kind: 'provided', members: columns('key', 'value'), by: sql`key` },
    },
    {
      table: 'sessions',
      category: 'sessions',
      exported: {
        kind: 'observed',
        members: {
          ...columns('user_agent', 'ip'),
          created_at: utc('created_at'),
          last_seen_at: utc('last_seen_at'),
          expires_at: utc('expires_at'),
          ended_at: utc('revoked_at'),
        },
      },
    },
    {
      table: 'sign_ins',
      category: 'sign_ins',
      exported: {
        isLarge: true,
        kind: 'observed',
        members: { ...columns('outcome', 'way', 'user_agent', 'ip'), at: utc('at') },
      },
    },
    {
      table: 'access_tokens',
      category: 'access_tokens',
      exported: {
        kind: 'provided',
        members: {
          ...columns('name', 'scopes'),
          created_at: utc('created_at'),
          expires_at: utc('expires_at'),
          last_used_at: utc('last_used_at'),
          revoked_at: utc('revoked_at'),
        },
      },
    },
    {
      table: 'reauth_requests',
      category: 'sign_in_confirmations',
      exported: {
        kind: 'observed',
        members: { ...columns('purpose'), started_at: utc('started_at'), used_at: utc('used_at') },
      },
    },
    {
      table: 'notices',
      category: 'messages',
      where: sql`withdrawal_id IS NULL`,
      exported: {
        kind: 'observed',
        members: { ...columns('kind'), created_at: utc('created_at'), sent_at: utc('sent_at') },
      },
    },
    {
      table: 'mail_deliveries',
      category: 'communication_logs',
      time: 'sent_at',
      written: { rows: 1 },
      kept: { for: 'audit_logs', facts: ['kind', 'state'] },
      exported: {
        kind: 'observed',
        members: { ...columns('kind', 'message_id', 'state'), sent_at: utc('sent_at'), state_at: utc('state_at') },
      },
    },
    {
      table: 'email_change_requests',
      category: 'email_changes',
      exported: {
        kind: 'provided',
        members: {
          ...columns('status', 'old_email', 'new_email'),
          requested_at: utc('requested_at'),
          closed_at: utc('closed_at'),
        },
      },
    },
    {
      table: 'withdrawal_blockers',
      category: 'blockers',
      key: 'key',
      time: 'created_at',
      exported: {
        kind: 'observed',
        members: {
          ...columns('source', 'code', 'title', 'url'),
          amount: amountOf('amount_minor'),
          created_at: utc('created_at'),
          expires_at: utc('expires_at'),
        },
        // Two services may have one key. No name of a service holds a line end.
        by: sql`source || chr(10) || key`,
      },
    },
    {
      table: 'events',
      category: 'events',
      time: 'occurred_at',
      exported: { kind: 'observed', members: { ...columns('type'), occurred_at: utc('occurred_at') } },
    },
    {
      table: 'rate_limits',
      category: 'limits',
      key: 'key',
      written: { rows: 1, unless: sql`key = 'withdraw:' || user_id` },
      exported: { kind: 'never', because: 'times of calls of the last day, which keep the service from being flooded' },
    },
    {
      table: 'transaction_audit_logs',
      category: 'transaction_logs',
      kept: { for: 'law', facts: ['transaction_id', 'action'] },
      // The actor and the address may be somebody else's.
      exported: {
        isLarge: true,
        kind: 'observed',
        members: { ...columns('transaction_id', 'action'), at: utc('at') },
      },
    },
    {
      table: 'security_incidents',
      category: 'security_incidents',
      kept: { for: 'law', facts: ['kind'] },
      // The address may be an attacker's.
      exported: { kind: 'observed', members: { ...columns('kind', 'description'), at: utc('at') } },
    },
    {
      table: 'legal_records',
      category: 'legal_records',
      written: { rows: 1 },
      kept: { for: 'law', facts: ['kind'] },
      exported: { kind: 'observed', members: { ...columns('kind'), at: utc('at') } },
    },
    {
      table: 'users',
      category: 'account',
      exported: {
        kind: 'provided',
        members: {
          ...columns('id', 'name', 'email', 'external_id', 'locale'),
          email_verified_at: utc('email_verified_at'),
          created_at: utc('created_at'),
        },
      },
    },
  ],
}
