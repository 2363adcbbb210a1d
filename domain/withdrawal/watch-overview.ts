import { watchTasks } from '../applications/list-tasks'
import { failingApps } from '../applications/operate-deliveries'
import type { SystemContext } from '../context'
import { partOf } from '../figures'
import { countWithdrawals, troubledWithdrawals, watchBacklog } from './watch-withdrawals'

/** For operators: ids, states, times and errors, no personal data. A part that cannot be read is null, and so is a figure. */
export async function watchOverview(ctx: SystemContext) {
  const [withdrawals, backlog, troubled, failing, tasks] = await Promise.all([
    countWithdrawals(ctx),
    watchBacklog(ctx),
    partOf(ctx, 'troubled-withdrawals', troubledWithdrawals(ctx)),
    partOf(ctx, 'failing-apps', failingApps(ctx)),
    partOf(ctx, 'open-tasks', watchTasks(ctx)),
  ])
  return { withdrawals, backlog, troubled, failing, tasks }
}
