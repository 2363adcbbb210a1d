import { AdminPage } from '@/components/admin/admin-page'
import { WithdrawalDetail } from '@/components/admin/withdrawal-detail'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { accountOf, operatorContext, orNotFound, titleForOperators } from '../../for-operators'

export const generateMetadata = titleForOperators('Withdrawal')

export default async function WithdrawalPage({ params }: { params: Promise<{ withdrawalId: string }> }) {
  const ctx = await operatorContext('/admin/withdrawals')
  const withdrawal = await showWithdrawal(ctx, (await params).withdrawalId).catch(orNotFound)
  return (
    <AdminPage
      account={accountOf(ctx)}
      section="/admin/withdrawals"
      isFirst={false}
      title="Withdrawal"
      description="What it has deleted, and what it waits for. Refreshes every few seconds."
      refreshes
    >
      <WithdrawalDetail withdrawal={withdrawal} />
    </AdminPage>
  )
}
