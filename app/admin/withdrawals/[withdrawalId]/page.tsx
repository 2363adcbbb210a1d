import { AdminPage } from '@/components/admin/admin-page'
import { WithdrawalDetail } from '@/components/admin/withdrawal-detail'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { operatorContext, orNotFound, pageFactsOf, titleForOperators } from '../../for-operators'

export const generateMetadata = titleForOperators('Withdrawal')

export default async function WithdrawalPage({ params }: { params: Promise<{ withdrawalId: string }> }) {
  const ctx = await operatorContext('/admin/withdrawals')
  const withdrawal = await showWithdrawal(ctx, (await params).withdrawalId).catch(orNotFound)
  const { account, renderedAt } = pageFactsOf(ctx)
  return (
    <AdminPage
      account={account}
      section="/admin/withdrawals"
      isFirst={false}
      title="Withdrawal"
      description="What it has deleted, and what it waits for. Refreshes every few seconds."
      refreshes
    >
      <WithdrawalDetail withdrawal={withdrawal} renderedAt={renderedAt} />
    </AdminPage>
  )
}
