import { titled } from '@/app/page-title'
import { SessionSettings } from '@/components/access/session-settings'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { formatDuration } from '@/components/ui/duration'
import { waysToConfirm } from '@/domain/sessions/fresh-sign-in'
import { listSessions } from '@/domain/sessions/sessions'
import { pageLanguage, pageTexts, textsOf } from '@/server/pages/language'
import { currentSession, openPage, type PageProps, toSignIn } from '@/server/pages/session'

export const generateMetadata = titled('Sessions', 'title')

export default async function SessionsPage(props: PageProps) {
  const [ctx, session] = await Promise.all([openPage(), currentSession()])
  if (!ctx || !session) return toSignIn('/settings/sessions', props)
  const t = await pageTexts('Sessions')
  const [{ sessions }, ways, language] = await Promise.all([
    listSessions(ctx),
    waysToConfirm(ctx, 'sessions'),
    pageLanguage(),
  ])
  const { unconfirmed } = await props.searchParams
  const { sessionIdleMs, sessionLifetimeMs } = ctx.limits
  const idle = formatDuration(sessionIdleMs / 1000, language)
  const lifetime = formatDuration(sessionLifetimeMs / 1000, language)
  return (
    <Texts texts={await textsOf(['Identity', 'Sessions'])}>
      <PageHeading title={t('title')} description={`${t('description')} ${t('endsBy', { idle, lifetime })}`} />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <SessionSettings
        userId={session.userId}
        email={ctx.actor.user.email}
        ways={ways}
        initialSessions={sessions}
        initialStatus={session.emailStatus}
        renderedAt={ctx.clock.now().toISOString()}
      />
    </Texts>
  )
}
