import { titled } from '@/app/page-title'
import { SessionSettings } from '@/components/access/session-settings'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { listSessions } from '@/domain/sessions/sessions'
import { pageTexts, textsOf } from '@/server/pages/language'
import { currentSession, type PageProps, pageContext, toSignIn } from '@/server/pages/session'

export const generateMetadata = titled('Sessions', 'title')

export default async function SessionsPage(props: PageProps) {
  const [ctx, session] = await Promise.all([pageContext(), currentSession()])
  if (!ctx || !session) return toSignIn('/settings/sessions', props)
  const t = await pageTexts('Sessions')
  const { sessions } = await listSessions(ctx)
  return (
    <Texts texts={await textsOf(['Sessions'])}>
      <PageHeading title={t('title')} description={t('description')} />
      <SessionSettings
        userId={session.userId}
        initialSessions={sessions}
        initialStatus={session.emailStatus}
        renderedAt={ctx.clock.now().toISOString()}
      />
    </Texts>
  )
}
