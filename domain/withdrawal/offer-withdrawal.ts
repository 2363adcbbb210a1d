import type { Blocker } from '@/contract/errors'
import type { Step } from '@/contract/withdrawal'
import type { SystemContext } from '../context'
import { findBlockers } from './blockers'
import { stepTimes } from './describe-deletion'
import { retentionDays } from './schedule'

interface WithdrawalOffer {
  /** Sorted by name. One that is told at once ends its access itself; every one is asked to remove the user within a day. */
  applications: { name: string; isToldAtOnce: boolean }[]
  /** What the person must settle first. */
  pendingTransactions: { id: string; description: string; createdAt: string }[]
  /** The blockers that this database knows; applications are not asked. */
  blockers: Blocker[]
  /** Whether an application has to be asked too. */
  asksApplications: boolean
  retentionDays: number
  /** When each step should be done, counted from the start; 0 for the step that the request itself completes. */
  steps: { step: Step; withinMs: number }[]
}

/** For the page that offers a withdrawal; the numbers come from `preview-withdrawal.ts`. */
export async function offerWithdrawal(ctx: SystemContext, userId: string): Promise<WithdrawalOffer> {
  const [apps, pending, { blockers, asks }] = await Promise.all([
    ctx.db.connectedApp.findMany({
      where: { OR: [{ audience: 'everyone' }, { connections: { some: { userId } } }] },
      select: { name: true, events: true },
    }),
    ctx.db.transaction.findMany({ where: { userId, status: 'pending' }, orderBy: { createdAt: 'asc' } }),
    findBlockers(ctx, ctx.sql, userId),
  ])
  return {
    applications: apps
      .map(({ name, events }) => ({ name, isToldAtOnce: events.includes('account.withdrawal_started') }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    pendingTransactions: pending.map(({ id, description, createdAt }) => ({
      id,
      description,
      createdAt: createdAt.toISOString(),
    })),
    blockers,
    asksApplications: asks,
    retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
    steps: stepTimes(),
  }
}

/** The user of a withdrawal, for the page that is opened with the withdrawal id alone; null for an unknown one, and after the purge. */
export async function userOfWithdrawal(ctx: SystemContext, withdrawalId: string): Promise<string | null> {
  const withdrawal = await ctx.db.withdrawal.findUnique({ where: { id: withdrawalId }, select: { userId: true } })
  return withdrawal?.userId ?? null
}
