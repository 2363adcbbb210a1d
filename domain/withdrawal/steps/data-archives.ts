import { deleteArchives } from '../../applications/archives'
import { day } from '../../limits/durations'
import type { DeletionStep } from './deletion-step'

/** Archive cleanup, 1–7 days: archived copies and their key, logs and caches. */
export const dataArchives: DeletionStep = {
  window: { dueMs: day, estimateMs: 7 * day },
  firstStatus: 'pending',
  async before(ctx, userId) {
    await deleteArchives(ctx, userId)
    await ctx.mail.deleteMessages(userId)
  },
  erases: [
    { table: 'archives', category: 'archived_copies' },
    { table: 'archive_keys', category: 'archived_copies', key: 'user_id' },
    { table: 'analytics_events', category: 'analytics', kept: { for: 'analytics', facts: ['name'] } },
    { table: 'communication_logs', category: 'communication_logs', kept: { for: 'audit_logs', facts: ['channel'] } },
    {
      table: 'integration_logs',
      category: 'integration_logs',
      kept: { for: 'audit_logs', facts: ['app_id', 'action'] },
    },
    { table: 'audit_events', category: 'audit_logs', kept: { for: 'audit_logs', facts: ['action', 'actor'] } },
    {
      table: 'transactions',
      category: 'transactions',
      time: 'created_at',
      kept: { for: 'transaction_history', facts: ['status', 'amount_cents'] },
    },
    { table: 'cache_entries', category: 'caches', key: 'key' },
    { table: 'notices', category: 'messages' },
  ],
}
