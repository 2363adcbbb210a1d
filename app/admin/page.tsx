import type { Metadata } from 'next'
import { notFound, redirect } from 'next/navigation'
import { Figures } from '@/components/admin/figures'
import { RefreshEvery } from '@/components/admin/refresh-every'
import { TroubledWithdrawals } from '@/components/admin/troubled-withdrawals'
import { PageHeading } from '@/components/page-heading'
import { SiteFooter } from '@/components/site-footer'
import { SiteHeader } from '@/components/site-header'
import { MAX_COUNTED, watchWithdrawals } from '@/domain/withdrawal/watch-withdrawals'
import { isOperatorHere } from '@/server/pages/operator'
import { pageContext } from '@/server/pages/session'

/** To everybody else the page does not exist, by its title too. */
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
    <>
      <SiteHeader account={{ name, email }} />
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-5xl flex-1 px-4 py-8 outline-none sm:px-6 lg:py-12"
      >
        <PageHeading
          title="Operations"
          description="How far withdrawals are, and what does not get done. Refreshes every few seconds."
        />
        <RefreshEvery seconds={5} />
        <div className="space-y-6">
          <Figures withdrawals={withdrawals} backlog={backlog} maxCounted={MAX_COUNTED} />
          <TroubledWithdrawals withdrawals={troubled} isCut={isCut} renderedAt={ctx.clock.now().toISOString()} />
        </div>
      </main>
      <SiteFooter />
    </>
  )
}
