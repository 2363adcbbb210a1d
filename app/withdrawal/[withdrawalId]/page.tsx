import type { Metadata } from 'next'
import { PageHeading } from '@/components/page-heading'
import { SiteFooter } from '@/components/site-footer'
import { SiteHeader } from '@/components/site-header'
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

/** Needs no session: the token in the link's fragment, which never comes here, opens what the page shows. */
export default async function WithdrawalPage({ params }: Props) {
  const { withdrawalId } = await params
  const userId = /^wd_[\w-]+$/.test(withdrawalId) ? await userOfWithdrawal(systemContext(), withdrawalId) : null
  return (
    <>
      <SiteHeader account={null} />
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-2xl flex-1 px-4 py-8 outline-none sm:px-6 lg:py-12"
      >
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
      </main>
      <SiteFooter />
    </>
  )
}
