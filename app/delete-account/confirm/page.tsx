import { titled } from '@/app/page-title'
import { ColumnPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { formatDuration } from '@/components/ui/duration'
import { ConfirmDeletion } from '@/components/withdrawal/confirm-deletion'
import { stepTimes } from '@/domain/withdrawal/describe-deletion'
import { retentionDays } from '@/domain/withdrawal/schedule'
import { pageLanguage, textsOf } from '@/server/pages/language'
import { getEnv } from '@/server/settings/env'
import { systemContext } from '@/server/system-context'

export const generateMetadata = titled('DeletionPage', 'tab', { referrer: 'no-referrer' })

/** Needs no session: the browser reads the preview with the token in the link's fragment, which is never sent here. */
export default async function ConfirmDeletionPage() {
  const longestMs = Math.max(...stepTimes().map(({ withinMs }) => withinMs))
  const { DeletionPage, ...texts } = await textsOf(['Blockers', 'DeleteAccount', 'DeletionPage', 'MailedLink'])
  const { categories: _, ...page } = DeletionPage
  return (
    <ColumnPage account={null} className="max-w-2xl">
      <Texts texts={{ ...texts, DeletionPage: page }}>
        <ConfirmDeletion
          supportEmail={getEnv().supportEmail}
          deletedWithin={formatDuration(longestMs / 1000, await pageLanguage())}
          retentionDays={retentionDays(systemContext().limits.withdrawalRetentionMs)}
        />
      </Texts>
    </ColumnPage>
  )
}
