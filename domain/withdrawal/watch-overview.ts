import { listUndeliverableUsers } from '../accounts/list-undeliverable'
import { watchTasks } from '../applications/list-tasks'
import { failingApps } from '../applications/operate-deliveries'
import type { SystemContext } from '../context'
import { orUnread } from '../figures'
import { countWithdrawals, troubledWithdrawals, watchBacklog } from './watch-withdrawals'

const MAX_UNDELIVERABLE = '20'

/** For operators: ids, states, times and errors, no personal data. A part that cannot be read is null, and so is a figure. */
export async function watchOverview(ctx: SystemContext) {
  const [withdrawals, backlog, troubled, failing, tasks, undeliverable] = await Promise.all([
    countWithdrawals(ctx),
    watchBacklog(ctx),
    orUnread(ctx, 'troubled-withdrawals', troubledWithdrawals(ctx)),
    orUnread(ctx, 'failing-apps', failingApps(ctx)),
    orUnread(ctx, 'open-tasks', watchTasks(ctx)),
    orUnread(ctx, 'undeliverable-accounts', listUndeliverableUsers(ctx, { limit: MAX_UNDELIVERABLE })),
  ])
  return { withdrawals, backlog, troubled, failing, tasks, undeliverable }
}
