import { hour, minute } from '../../limits/durations'
import type { DeletionStep } from './deletion-step'

/** Data deletion, 5–60 minutes: profile, credentials and preferences. */
export const userProfile: DeletionStep = {
  window: { dueMs: 5 * minute, estimateMs: hour },
  firstStatus: 'processing',
  erases: [
    { table: 'profiles', category: 'profile', key: 'user_id' },
    { table: 'preferences', category: 'preferences', key: 'key' },
    { table: 'sessions', category: 'sessions' },
    { table: 'access_tokens', category: 'access_tokens' },
    { table: 'reauth_requests', category: 'sign_in_confirmations' },
    { table: 'notices', category: 'messages', where: 'withdrawal_id IS NULL' },
    { table: 'email_change_requests', category: 'email_changes' },
    { table: 'rate_limits', category: 'limits', key: 'key' },
    {
      table: 'transaction_audit_logs',
      category: 'transaction_logs',
      kept: { for: 'law', facts: ['transaction_id', 'action'] },
    },
    { table: 'security_incidents', category: 'security_incidents', kept: { for: 'law', facts: ['kind'] } },
    { table: 'legal_records', category: 'legal_records', kept: { for: 'law', facts: ['kind'] } },
    { table: 'users', category: 'account' },
  ],
}
