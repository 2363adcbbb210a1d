import { titled } from '@/app/page-title'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { formatDuration } from '@/components/ui/duration'
import { DeleteAccount } from '@/components/withdrawal/delete-account'
import { waysToConfirm } from '@/domain/sessions/fresh-sign-in'
import { offerWithdrawal } from '@/domain/withdrawal/offer-withdrawal'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { planWithdrawal } from '@/domain/withdrawal/schedule'
import { pageLanguage, pageTexts, textsOf } from '@/server/pages/language'
import { currentSession, openPage, type PageProps, toSignIn } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { WhatHappens } from './what-happens'

export const generateMetadata = titled('DeleteAccount', 'title')

export default async function WithdrawAccountPage(props: PageProps) {
  const [ctx, session] = await Promise.all([openPage(), currentSession()])
  if (!ctx || !session) return toSignIn('/settings/withdraw', props)
  const ways = await waysToConfirm(ctx, 'withdraw')
  const { unconfirmed } = await props.searchParams
  const { userId } = session
  const now = ctx.clock.now()
  const [offer, counts] = await Promise.all([
    offerWithdrawal(ctx, userId),
    previewWithdrawal(ctx, { userId }).then(
      ({ erased, retained }) => ({ erased, retained }),
      () => null,
    ),
  ])
  const { applications, blockers, asksApplications, retentionDays, steps } = offer
  const longestMs = Math.max(...steps.map(({ withinMs }) => withinMs))
  const keptUntil = planWithdrawal(ctx, now).purgeDueAt.toISOString()
  const t = await pageTexts('DeleteAccount')
  const { Deletion, ...texts } = await textsOf(['Blockers', 'DeleteAccount', 'Deletion'])
  const { categories, moreThan, technical } = Deletion
  return (
    <Texts texts={{ ...texts, Deletion: { categories, moreThan, technical } }}>
      <PageHeading title={t('title')} />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <DeleteAccount
        userId={userId}
        email={session.emailStatus.current_email}
        ways={ways}
        known={{ blockers, authority: ctx.authority ?? undefined, asksApplications, renderedAt: now.toISOString() }}
        counts={counts}
        supportEmail={getEnv().supportEmail}
        applications={applications}
        deletedWithin={formatDuration(longestMs / 1000, await pageLanguage())}
        retentionDays={retentionDays}
        keptUntil={keptUntil}
        details={
          <WhatHappens
            steps={steps}
            retentionDays={retentionDays}
            keptUntil={keptUntil}
            hasApps={applications.length > 0}
          />
        }
      />
    </Texts>
  )
}
