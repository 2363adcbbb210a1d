import { titled } from '@/app/page-title'
import { WhatHappens } from '@/app/settings/withdraw/what-happens'
import { ColumnPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { formatDuration } from '@/components/ui/duration'
import { ConfirmDeletion } from '@/components/withdrawal/confirm-deletion'
import { WITHDRAWAL_LINK_MS } from '@/domain/limits/durations'
import { stepTimes } from '@/domain/withdrawal/describe-deletion'
import { planWithdrawal, retentionDays } from '@/domain/withdrawal/schedule'
import { pageLanguage, textsOf } from '@/server/pages/language'
import { getEnv } from '@/server/settings/env'
import { systemContext } from '@/server/system-context'

export const generateMetadata = titled('DeletionPage', 'tab', { referrer: 'no-referrer' })

/** Needs no session: the browser reads the preview with the token in the link's fragment, which is never sent here. */
export default async function ConfirmDeletionPage() {
  const ctx = systemContext()
  const steps = stepTimes(ctx)
  const longestMs = Math.max(...steps.map(({ withinMs }) => withinMs))
  const days = retentionDays(ctx.limits.withdrawalRetentionMs)
  const keptUntil = planWithdrawal(ctx, ctx.clock.now()).purgeDueAt.toISOString()
  const language = await pageLanguage()
  const names = ['Blockers', 'DeleteAccount', 'Deletion', 'DeletionPage', 'MailedLink'] as const
  const { Deletion, DeletionPage, ...texts } = await textsOf(names)
  const { categories, moreThan, technical } = Deletion
  const { categories: _, ...page } = DeletionPage
  return (
    <ColumnPage account={null} className="max-w-2xl">
      <Texts texts={{ ...texts, Deletion: { categories, moreThan, technical }, DeletionPage: page }}>
        <ConfirmDeletion
          supportEmail={getEnv().supportEmail}
          linkLasts={formatDuration(WITHDRAWAL_LINK_MS / 1000, language)}
          deletedWithin={formatDuration(longestMs / 1000, language)}
          retentionDays={days}
          keptUntil={keptUntil}
          details={<WhatHappens steps={steps} retentionDays={days} keptUntil={keptUntil} />}
        />
      </Texts>
    </ColumnPage>
  )
}
