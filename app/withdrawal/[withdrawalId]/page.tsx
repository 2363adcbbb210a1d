import type { Metadata } from 'next'
import { ColumnPage } from '@/components/page'
import { PageHeading } from '@/components/page-heading'
import { NothingToRead, WithdrawalProgress } from '@/components/withdrawal/withdrawal-progress'
import { userOfWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { systemContext } from '@/server/context'

export const metadata: Metadata = {
  title: 'Account withdrawal',
  referrer: 'no-referrer',
}

interface Props {
  params: Promise<{ withdrawalId: string }>
}

/** Needs no session: the browser reads the progress with the token in the link's fragment, which is never sent here. */
export default async function WithdrawalPage({ params }: Props) {
  const { withdrawalId } = await params
  const userId = /^wd_[\w-]+$/.test(withdrawalId) ? await userOfWithdrawal(systemContext(), withdrawalId) : null
  return (
    <ColumnPage account={null} className="max-w-2xl">
      <PageHeading title="Account withdrawal" description="How an account and its data are deleted, step by step." />
      {userId ? (
        <WithdrawalProgress
          userId={userId}
          withdrawalId={withdrawalId}
          renderedAt={systemContext().clock.now().toISOString()}
        />
      ) : (
        <NothingToRead />
      )}
    </ColumnPage>
  )
}
