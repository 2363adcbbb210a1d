import { AdminPage } from '@/components/admin/admin-page'
import { NeedsAttention } from '@/components/admin/needs-attention'
import { Numbers } from '@/components/admin/numbers'
import { Part, Unread } from '@/components/admin/part'
import { Retried } from '@/components/admin/retried'
import { TaskTable, taskApp } from '@/components/admin/task-table'
import { MAX_COUNTED } from '@/domain/figures'
import { groupTroubles, watchOverview } from '@/domain/withdrawal/watch-overview'
import { accountOf, operatorContext, titleForOperators } from './for-operators'

export const generateMetadata = titleForOperators('Operations')

export default async function OperationsPage() {
  const ctx = await operatorContext('/admin')
  const { figures, troubled, failing, tasks, undeliverable } = await watchOverview(ctx)
  const { apps, withdrawals } = groupTroubles({ troubled, failing })
  const failed = new Set(apps.flatMap((app) => app.tasks.map(({ task_id }) => task_id)))
  const others = tasks?.tasks.filter(({ task_id }) => !failed.has(task_id)) ?? []
  return (
    <AdminPage
      account={accountOf(ctx)}
      section="/admin"
      title="Operations"
      description="What fails or is late, and what waits. Refreshes every few seconds."
      refreshes
    >
      <NeedsAttention
        figures={figures}
        apps={apps}
        withdrawals={withdrawals}
        undeliverable={
          undeliverable && undeliverable.users.length > 0
            ? `${undeliverable.users.length}${undeliverable.next ? '+' : ''}`
            : null
        }
        isUnread={!troubled || !failing || !undeliverable}
        isCut={troubled?.is_cut ?? false}
      />
      <Part title="Other deletion tasks that are due" description={tasks?.is_cut && 'There are more than are shown.'}>
        {tasks ? (
          <Retried listed={others.map(({ task_id }) => task_id)}>
            <TaskTable
              label="Other deletion tasks"
              tasks={others}
              fields={{ name: taskApp, withdrawal_id: true }}
              none="No other task waits."
            />
          </Retried>
        ) : (
          <Unread />
        )}
      </Part>
      <Numbers figures={figures} maxCounted={MAX_COUNTED} />
    </AdminPage>
  )
}
