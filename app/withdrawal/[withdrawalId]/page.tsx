import { titled } from '@/app/page-title'
import { ColumnPage } from '@/components/layout/page'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { ReturnLink } from '@/components/session/return-link'
import { DeletionNotFound, WithdrawalProgress } from '@/components/withdrawal/withdrawal-progress'
import { userOfWithdrawal } from '@/domain/withdrawal/offer-withdrawal'
import { retentionDays } from '@/domain/withdrawal/schedule'
import { orDatabaseAwayPage } from '@/server/pages/away'
import { pageTexts, textsOf } from '@/server/pages/language'
import { getEnv } from '@/server/settings/env'
import { systemContext } from '@/server/system-context'

export const generateMetadata = titled('Deletion', 'title', { referrer: 'no-referrer' })

/** Needs no session: the browser reads the progress with the token in the link's fragment, which is never sent here. */
export default async function WithdrawalPage({ params }: { params: Promise<{ withdrawalId: string }> }) {
  const { withdrawalId } = await params
  const t = await pageTexts('Deletion')
  const ctx = systemContext()
  const { returnTo, supportEmail } = getEnv()
  const userId = /^wd_[\w-]+$/.test(withdrawalId) ? await orDatabaseAwayPage(userOfWithdrawal(ctx, withdrawalId)) : null
  return (
    <ColumnPage account={null} className="max-w-2xl">
      {returnTo.length > 0 && <ReturnLink allowed={returnTo} />}
      <PageHeading title={t('title')} />
      <Texts texts={await textsOf(['Deletion'])}>
        {userId ? (
          <WithdrawalProgress userId={userId} withdrawalId={withdrawalId} supportEmail={supportEmail} />
        ) : (
          <DeletionNotFound
            withdrawalId={withdrawalId}
            days={retentionDays(ctx.limits.withdrawalRetentionMs)}
            supportEmail={supportEmail}
          />
        )}
      </Texts>
    </ColumnPage>
  )
}
