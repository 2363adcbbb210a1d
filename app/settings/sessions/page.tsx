import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { SessionSettings } from '@/components/access/session-settings'
import { PageHeading } from '@/components/page-heading'
import { listSessions } from '@/domain/access/sessions'
import { currentSession, pageContext } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Sessions' }

export default async function SessionsPage() {
  const [ctx, session] = await Promise.all([pageContext(), currentSession()])
  if (!ctx || !session) redirect('/sign-in?next=/settings/sessions')
  const { sessions } = await listSessions(ctx)
  return (
    <>
      <PageHeading
        title="Sessions"
        description="Where you are signed in. Sign out what you do not recognise or no longer use."
      />
      <SessionSettings
        userId={session.userId}
        initialSessions={sessions}
        initialStatus={session.emailStatus}
        renderedAt={ctx.clock.now().toISOString()}
      />
    </>
  )
}
