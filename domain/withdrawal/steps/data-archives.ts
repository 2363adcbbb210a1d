import { deleteArchives } from '../../applications/archives'
import { day } from '../../limits/durations'
import { sql } from '../../sql'
import { amountOf, columns, type DeletionStep, utc } from './deletion-step'

/** Archive cleanup, 1–7 days: archived copies and their key, logs and caches. */
export const dataArchives: DeletionStep = {
  window: { dueMs: day, estimateMs: 7 * day },
  firstStatus: 'pending',
  async before(ctx, userId) {
    await deleteArchives(ctx, userId)
    await ctx.mail.deleteMessages(userId)
  },
  erases: [
    {
      table: 'archives',
      category: 'archived_copies',
      // The content of a copy is in the other documents.
      exported: { kind: 'observed', members: { ...columns('bytes'), created_at: utc('created_at') } },
    },
    {
      table: 'archive_keys',
      category: 'archive_keys',
      key: 'user_id',
      exported: { kind: 'never', because: 'a secret' },
    },
    {
      table: 'analytics_events',
      category: 'analytics',
      kept: { for: 'analytics', facts: ['name'] },
      exported: { isLarge: true, kind: 'observed', members: { ...columns('name', 'properties'), at: utc('at') } },
    },
    {
      table: 'communication_logs',
      category: 'communication_logs',
      kept: { for: 'audit_logs', facts: ['channel'] },
      exported: {
        isLarge: true,
        kind: 'observed',
        members: { ...columns('channel', 'recipient', 'subject'), at: utc('at') },
      },
    },
    {
      table: 'integration_logs',
      category: 'integration_logs',
      kept: { for: 'audit_logs', facts: ['app_id', 'action'] },
      exported: {
        isLarge: true,
        kind: 'observed',
        members: { ...columns('app_id', 'action'), state: sql`details`, at: utc('at') },
      },
    },
    {
      table: 'audit_events',
      category: 'audit_logs',
      written: { rows: 1 },
      kept: { for: 'audit_logs', facts: ['action', 'actor'] },
      exported: { kind: 'observed', members: { ...columns('action', 'actor'), at: utc('at') } },
    },
    {
      table: 'transactions',
      category: 'transactions',
      time: 'created_at',
      kept: { for: 'transaction_history', facts: ['status', 'amount_cents', 'currency'] },
      exported: {
        isLarge: true,
        kind: 'provided',
        members: {
          ...columns('id', 'status', 'url'),
          title: sql`description`,
          amount: amountOf('amount_cents'),
          created_at: utc('created_at'),
        },
      },
    },
    {
      table: 'cache_entries',
      category: 'caches',
      key: 'key',
      exported: { kind: 'never', because: 'copies that the adopter makes again from its own data' },
    },
    // Only those of the withdrawal itself; `user_profile` deletes the others.
    {
      table: 'notices',
      category: 'messages',
      written: { rows: 1, only: true },
      exported: { kind: 'never', because: 'they begin with the withdrawal, after which nobody exports' },
    },
  ],
}
