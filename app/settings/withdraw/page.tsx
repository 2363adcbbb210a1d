import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { PageHeading } from '@/components/page-heading'
import { ToldApplications, WhatHappens, WhatStays } from '@/components/withdrawal/what-happens'
import { WithdrawAccountForm } from '@/components/withdrawal/withdraw-account-form'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { systemContext } from '@/server/context'
import { currentSession } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Withdraw account' }

export default async function WithdrawAccountPage() {
  const session = await currentSession()
  if (!session) redirect('/sign-in?next=/settings/withdraw')
  const { applications, pendingTransactions, retentionDays } = await previewWithdrawal(systemContext(), session.userId)
  const explanation = [
    <WhatHappens key="what-happens" retentionDays={retentionDays} />,
    <ToldApplications key="applications" applications={applications} />,
    <WhatStays key="what-stays" retentionDays={retentionDays} today={systemContext().clock.now()} />,
  ]
  const form = (
    <WithdrawAccountForm
      key="form"
      userId={session.userId}
      email={session.emailStatus.current_email}
      pendingTransactions={pendingTransactions}
      retentionDays={retentionDays}
    />
  )
  return (
    <>
      <PageHeading
        title="Withdraw account"
        description="This deletes your account and your data for good. It cannot be undone."
      />
      {/* What stands in the way comes first; by its key the form keeps what was typed. */}
      <div className="space-y-6">{pendingTransactions.length ? [form, ...explanation] : [...explanation, form]}</div>
    </>
  )
}
