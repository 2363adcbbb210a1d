import type { SystemContext } from '../context'
import { findBlockers } from './blockers'
import { stepTimes } from './describe-deletion'
import { retentionDays } from './schedule'

/** For the page that offers a withdrawal; the numbers come from `preview-withdrawal.ts`. */
export async function offerWithdrawal(ctx: SystemContext, userId: string) {
  const [apps, { blockers, asks }] = await Promise.all([
    ctx.db.connectedApp.findMany({
      where: { OR: [{ audience: 'everyone' }, { connections: { some: { userId } } }] },
      select: { name: true, events: true },
    }),
    findBlockers(ctx, userId),
  ])
  return {
    /** Sorted by name. One that is told at once ends its access itself; every one is asked to remove the user within a day. */
    applications: apps
      .map(({ name, events }) => ({ name, isNotifiedAtOnce: events.includes('account.withdrawal_started') }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    /** The blockers that this database knows; applications are not asked. */
    blockers,
    /** Whether an application has to be asked too. */
    asksApplications: asks,
    retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
    steps: stepTimes(ctx),
  }
}

/** The user of a withdrawal, for the page that is opened with the withdrawal id alone; null for an unknown one, and after the purge. */
export async function userOfWithdrawal(ctx: SystemContext, withdrawalId: string): Promise<string | null> {
  const withdrawal = await ctx.db.withdrawal.findUnique({ where: { id: withdrawalId }, select: { userId: true } })
  return withdrawal?.userId ?? null
}
