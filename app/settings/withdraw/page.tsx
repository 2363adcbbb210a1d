import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { PageHeading } from '@/components/page-heading'
import { Texts } from '@/components/texts'
import { inWords } from '@/components/ui/duration'
import { DeleteAccount } from '@/components/withdrawal/delete-account'
import { waysToConfirm } from '@/domain/access/fresh-sign-in'
import { offerWithdrawal } from '@/domain/withdrawal/offer-withdrawal'
import { pageLanguage, pageTexts, textsOf } from '@/server/pages/language'
import { currentSession, pageContext } from '@/server/pages/session'
import { WhatHappens } from './what-happens'

export async function generateMetadata(): Promise<Metadata> {
  const t = await pageTexts('DeleteAccount')
  return { title: t('title') }
}

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function WithdrawAccountPage({ searchParams }: Props) {
  const [ctx, session] = await Promise.all([pageContext(), currentSession()])
  if (!ctx || !session) redirect('/sign-in?next=/settings/withdraw')
  const ways = await waysToConfirm(ctx, 'withdraw')
  const { unconfirmed } = await searchParams
  const { applications, blockers, pendingTransactions, retentionDays, steps } = await offerWithdrawal(
    ctx,
    session.userId,
  )
  const longestMs = Math.max(...steps.map(({ withinMs }) => withinMs))
  const keptUntil = new Date(ctx.clock.now().getTime() + ctx.limits.withdrawalRetentionMs).toISOString()
  const t = await pageTexts('DeleteAccount')
  return (
    <Texts texts={await textsOf(['Blockers', 'DeleteAccount', 'Deletion', 'Identity'])}>
      <PageHeading title={t('title')} description={t('description')} />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <DeleteAccount
        userId={session.userId}
        email={session.emailStatus.current_email}
        ways={ways}
        blockers={blockers}
        pendingTransactions={pendingTransactions}
        applications={applications}
        deletedWithin={inWords(longestMs / 1000, await pageLanguage())}
        retentionDays={retentionDays}
        keptUntil={keptUntil}
        details={<WhatHappens steps={steps} retentionDays={retentionDays} keptUntil={keptUntil} />}
      />
    </Texts>
  )
}
