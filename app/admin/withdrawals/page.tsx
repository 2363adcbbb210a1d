import { AdminPage } from '@/components/admin/admin-page'
import { WithdrawalList } from '@/components/admin/withdrawal-list'
import { WITHDRAWAL_STATES } from '@/contract/operator'
import { listWithdrawals } from '@/domain/withdrawal/list-withdrawals'
import type { PageProps } from '@/server/pages/session'
import { accountOf, operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Withdrawals')

export default async function WithdrawalsPage({ searchParams }: PageProps) {
  const ctx = await operatorContext('/admin/withdrawals')
  const { state: wanted, after } = await searchParams
  const state = WITHDRAWAL_STATES.find((state) => state === wanted) ?? 'processing'
  const page = await listWithdrawals(ctx, { state, after: typeof after === 'string' ? after : undefined })
  return (
    <AdminPage
      account={accountOf(ctx)}
      section="/admin/withdrawals"
      title="Withdrawals"
      description="Soonest due date first; ended ones, latest first."
    >
      <WithdrawalList {...page} state={state} />
    </AdminPage>
  )
}
