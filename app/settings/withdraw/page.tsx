import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { PageHeading } from '@/components/page-heading'
import { inWords } from '@/components/ui/duration'
import { ToldApplications, WhatHappens, WhatStays } from '@/components/withdrawal/what-happens'
import { WithdrawAccountForm } from '@/components/withdrawal/withdraw-account-form'
import { waysToConfirm } from '@/domain/access/fresh-sign-in'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { currentSession, pageContext } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Withdraw account' }

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function WithdrawAccountPage({ searchParams }: Props) {
  const [ctx, session] = await Promise.all([pageContext(), currentSession()])
  if (!ctx || !session) redirect('/sign-in?next=/settings/withdraw')
  const ways = await waysToConfirm(ctx, 'withdraw')
  const { unconfirmed } = await searchParams
  const { applications, pendingTransactions, retentionDays, steps } = await previewWithdrawal(ctx, session.userId)
  const longestMs = Math.max(...steps.map(({ withinMs }) => withinMs))
  const explanation = [
    <WhatHappens key="what-happens" steps={steps} retentionDays={retentionDays} />,
    <ToldApplications key="applications" applications={applications} />,
    <WhatStays key="what-stays" retentionDays={retentionDays} today={ctx.clock.now()} />,
  ]
  const form = (
    <WithdrawAccountForm
      key="form"
      userId={session.userId}
      email={session.emailStatus.current_email}
      ways={ways}
      pendingTransactions={pendingTransactions}
      retentionDays={retentionDays}
      deletedWithin={inWords(longestMs / 1000)}
    />
  )
  return (
    <>
      <PageHeading
        title="Withdraw account"
        description="This deletes your account and your data for good. It cannot be undone."
      />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      {/* Pending transactions come first, because they block the withdrawal. Its key keeps what was typed in the form. */}
      <div className="space-y-6">{pendingTransactions.length ? [form, ...explanation] : [...explanation, form]}</div>
    </>
  )
}
