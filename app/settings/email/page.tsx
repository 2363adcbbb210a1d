import { titled } from '@/app/page-title'
import { undoneWithin } from '@/app/undo-window'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { EmailSettings } from '@/components/email/email-settings'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { waysToConfirm } from '@/domain/sessions/fresh-sign-in'
import { pageTexts, textsOf } from '@/server/pages/language'
import { currentSession, openPage, type PageProps, toSignIn } from '@/server/pages/session'

export const generateMetadata = titled('EmailSettings', 'title')

export default async function EmailSettingsPage(props: PageProps) {
  const [ctx, session] = await Promise.all([openPage(), currentSession()])
  if (!ctx || !session) return toSignIn('/settings/email', props)
  const t = await pageTexts('EmailSettings')
  const ways = await waysToConfirm(ctx, 'change')
  const { unconfirmed } = await props.searchParams
  return (
    <>
      <PageHeading title={t('title')} description={t(ways.hasPassword ? 'signsIn' : 'writes')} />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <Texts texts={await textsOf(['EmailSettings'])}>
        <EmailSettings
          userId={session.userId}
          ways={ways}
          undoneWithin={await undoneWithin()}
          initialStatus={session.emailStatus}
          renderedAt={ctx.clock.now().toISOString()}
          hasBounceReports={Object.keys(ctx.mailEvents).length > 0}
        />
      </Texts>
    </>
  )
}
