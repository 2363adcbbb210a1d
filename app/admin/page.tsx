import { AdminPage } from '@/components/admin/admin-page'
import { Figures } from '@/components/admin/figures'
import { OpenTasks } from '@/components/admin/open-tasks'
import { TroubledWithdrawals } from '@/components/admin/troubled-withdrawals'
import { watchTasks } from '@/domain/applications/list-tasks'
import { MAX_COUNTED } from '@/domain/figures'
import { countWithdrawals, troubledWithdrawals, watchBacklog } from '@/domain/withdrawal/watch-withdrawals'
import { drawnFor, operatorContext, titleForOperators } from './for-operators'

export const generateMetadata = titleForOperators('Operations')

export default async function OperationsPage() {
  const ctx = await operatorContext('/admin')
  const [withdrawals, backlog, troubled, tasks] = await Promise.all([
    countWithdrawals(ctx),
    watchBacklog(ctx),
    troubledWithdrawals(ctx),
    watchTasks(ctx),
  ])
  const { account, renderedAt } = drawnFor(ctx)
  return (
    <AdminPage
      account={account}
      section="/admin"
      title="Operations"
      description="Deletion progress and failures. Refreshes every few seconds."
      refreshes
    >
      <div className="space-y-6">
        <Figures withdrawals={withdrawals} backlog={backlog} maxCounted={MAX_COUNTED} />
        <TroubledWithdrawals {...troubled} renderedAt={renderedAt} />
        <OpenTasks {...tasks} renderedAt={renderedAt} />
      </div>
    </AdminPage>
  )
}
