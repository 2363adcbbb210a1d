import { STEPS, type Step } from '@/contract/withdrawal'
import type { SystemContext } from '../context'
import { WITHDRAWAL_STARTED } from '../queue/events'
import { retentionDays } from './schedule'
import { DELETION_STEPS } from './steps/deletion-steps'

export interface WithdrawalPreview {
  /** By name. One that is told at once ends its access itself; every one is asked to remove the user within a day. */
  applications: { name: string; isToldAtOnce: boolean }[]
  /** What has to be settled first. */
  pendingTransactions: { id: string; description: string; createdAt: string }[]
  retentionDays: number
  /** The time by which each step should be done, counted from the start; 0 for what the request itself does. */
  steps: { step: Step; withinMs: number }[]
}

/** What a withdrawal would meet now; for the page that offers it. */
export async function previewWithdrawal(ctx: SystemContext, userId: string): Promise<WithdrawalPreview> {
  const [connections, pending] = await Promise.all([
    ctx.db.appConnection.findMany({ where: { userId }, select: { app: { select: { name: true, events: true } } } }),
    ctx.db.transaction.findMany({ where: { userId, status: 'pending' }, orderBy: { createdAt: 'asc' } }),
  ])
  return {
    applications: connections
      .map(({ app }) => ({ name: app.name, isToldAtOnce: app.events.includes(WITHDRAWAL_STARTED) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    pendingTransactions: pending.map(({ id, description, createdAt }) => ({
      id,
      description,
      createdAt: createdAt.toISOString(),
    })),
    retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
    steps: STEPS.map((step) => {
      const { firstStatus, window } = DELETION_STEPS[step]
      return { step, withinMs: firstStatus === 'completed' ? 0 : window.estimateMs }
    }),
  }
}

/** Whose withdrawal this is, for the page that is opened with the withdrawal id alone; null for none, and after the purge. */
export async function userOfWithdrawal(ctx: SystemContext, withdrawalId: string): Promise<string | null> {
  const withdrawal = await ctx.db.withdrawal.findUnique({ where: { id: withdrawalId }, select: { userId: true } })
  return withdrawal?.userId ?? null
}
