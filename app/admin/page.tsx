import type { Metadata } from 'next'
import { notFound, redirect } from 'next/navigation'
import { Figures } from '@/components/admin/figures'
import { RefreshEvery } from '@/components/admin/refresh-every'
import { TroubledWithdrawals } from '@/components/admin/troubled-withdrawals'
import { ColumnPage } from '@/components/page'
import { PageHeading } from '@/components/page-heading'
import { MAX_COUNTED, watchWithdrawals } from '@/domain/withdrawal/watch-withdrawals'
import { isOperatorHere } from '@/server/pages/operator'
import { pageContext } from '@/server/pages/session'

/** The title, too, tells everybody but operators that the page does not exist. */
export const generateMetadata = async (): Promise<Metadata> => ({
  title: (await isOperatorHere()) ? 'Operations' : 'Page not found',
})

export default async function OperationsPage() {
  const ctx = await pageContext()
  if (!ctx) redirect('/sign-in?next=/admin')
  if (!(await isOperatorHere())) notFound()
  const { withdrawals, backlog, troubled, isCut } = await watchWithdrawals(ctx)
  const { name, email } = ctx.actor.user
  return (
    <ColumnPage account={{ name, email }}>
      <PageHeading
        title="Operations"
        description="How far withdrawals are, and what does not get done. Refreshes every few seconds."
      />
      <RefreshEvery seconds={5} />
      <div className="space-y-6">
        <Figures withdrawals={withdrawals} backlog={backlog} maxCounted={MAX_COUNTED} />
        <TroubledWithdrawals withdrawals={troubled} isCut={isCut} renderedAt={ctx.clock.now().toISOString()} />
      </div>
    </ColumnPage>
  )
}
