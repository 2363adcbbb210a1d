import { AdminPage } from '@/components/admin/admin-page'
import { Figures } from '@/components/admin/figures'
import { OpenTasks } from '@/components/admin/open-tasks'
import { TroubledWithdrawals } from '@/components/admin/troubled-withdrawals'
import { watchTasks } from '@/domain/applications/watch-tasks'
import { MAX_COUNTED } from '@/domain/figures'
import { watchWithdrawals } from '@/domain/withdrawal/watch-withdrawals'
import { drawnFor, operatorContext, titleForOperators } from './for-operators'

export const generateMetadata = titleForOperators('Operations')

export default async function OperationsPage() {
  const ctx = await operatorContext('/admin')
  const [watched, tasks] = await Promise.all([watchWithdrawals(ctx), watchTasks(ctx)])
  const { withdrawals, backlog, troubled, isCut } = watched
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
        <TroubledWithdrawals withdrawals={troubled} isCut={isCut} renderedAt={renderedAt} />
        <OpenTasks {...tasks} renderedAt={renderedAt} />
      </div>
    </AdminPage>
  )
}
