import type { Metadata } from 'next'
import { VerifyEmail } from '@/components/email/verify-email'
import { CenteredPage } from '@/components/page'
import { systemContext } from '@/server/context'
import { accountOf, currentSession } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Verify your new address', referrer: 'no-referrer' }

export default async function VerifyEmailPage() {
  const session = await currentSession()
  const account = session && accountOf(session)
  return (
    <CenteredPage account={account}>
      <VerifyEmail
        reader={session && { userId: session.userId, name: session.name, initialStatus: session.emailStatus }}
        renderedAt={systemContext().clock.now().toISOString()}
      />
    </CenteredPage>
  )
}
