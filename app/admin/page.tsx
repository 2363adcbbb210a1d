import { NeedsAttention } from '@/components/admin/needs-attention'
import { Numbers } from '@/components/admin/numbers'
import { Part, Unread } from '@/components/admin/part'
import { TaskTable } from '@/components/admin/task-table'
import { listApps } from '@/domain/applications/manage'
import { groupTroubles, watchOverview } from '@/domain/withdrawal/watch-overview'
import { currentHealth } from '@/server/watch/health'
import { AdminPage } from './admin-page'
import { operatorContext, titleForOperators } from './for-operators'

export const generateMetadata = titleForOperators('Overview')

export default async function OperationsPage() {
  const ctx = await operatorContext('/admin')
  const [{ figures, ...troubles }, { degraded }] = await Promise.all([watchOverview(ctx), currentHealth()])
  const { apps, withdrawals, others, isUnread, isCut } = groupTroubles(troubles)
  const { tasks } = troubles
  const asking = apps.some(({ leaves_tasks }) => leaves_tasks) ? (await listApps(ctx)).apps : []
  return (
    <AdminPage section="/admin" title="Overview" description="What fails or is late, and what waits." refreshes>
      <NeedsAttention
        away={degraded}
        figures={figures}
        lookedAt={ctx.clock.now().toISOString()}
        apps={apps}
        lastFetches={new Map(asking.map(({ app_id, last_asked_at }) => [app_id, last_asked_at]))}
        withdrawals={withdrawals}
        isUnread={isUnread}
        isCut={isCut}
      />
      {(!tasks || others.length > 0) && (
        <Part title="Other deletion tasks" description={tasks?.is_cut && 'There are more than are shown.'}>
          {tasks ? (
            <TaskTable label="Other deletion tasks" tasks={others} fields={{ name: true, withdrawal_id: true }} />
          ) : (
            <Unread />
          )}
        </Part>
      )}
      <Numbers figures={figures} />
    </AdminPage>
  )
}
