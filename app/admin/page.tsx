import { AdminPage } from '@/components/admin/admin-page'
import { Figures } from '@/components/admin/figures'
import { NeedsAttention } from '@/components/admin/needs-attention'
import { OpenTasks } from '@/components/admin/open-tasks'
import { UndeliverableUsers } from '@/components/admin/undeliverable-users'
import { Unread } from '@/components/admin/unread'
import { MAX_COUNTED } from '@/domain/figures'
import { watchOverview } from '@/domain/withdrawal/watch-overview'
import { accountOf, operatorContext, titleForOperators } from './for-operators'

export const generateMetadata = titleForOperators('Operations')

export default async function OperationsPage() {
  const ctx = await operatorContext('/admin')
  const { withdrawals, backlog, troubled, failing, tasks, undeliverable } = await watchOverview(ctx)
  return (
    <AdminPage
      account={accountOf(ctx)}
      section="/admin"
      title="Operations"
      description="Deletion progress and failures. Refreshes every few seconds."
      refreshes
    >
      <div className="space-y-6">
        <Figures withdrawals={withdrawals} backlog={backlog} maxCounted={MAX_COUNTED} />
        <NeedsAttention troubled={troubled} failing={failing} />
        {tasks ? <OpenTasks {...tasks} /> : <Unread title="Deletion tasks of applications" />}
        {undeliverable === null && <Unread title="Addresses that take no mail" />}
        {undeliverable && undeliverable.users.length > 0 && <UndeliverableUsers {...undeliverable} />}
      </div>
    </AdminPage>
  )
}
