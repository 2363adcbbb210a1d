import type { Metadata } from 'next'
import { CenteredPage } from '@/components/centered-page'
import { VerifyEmail } from '@/components/email/verify-email'
import { Card } from '@/components/ui/card'
import { systemContext } from '@/server/context'
import { currentSession } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Verify your new address', referrer: 'no-referrer' }

export default async function VerifyEmailPage() {
  const session = await currentSession()
  const account = session && { name: session.name, email: session.emailStatus.current_email }
  return (
    <CenteredPage account={account}>
      <Card className="p-6 sm:p-8">
        <VerifyEmail
          reader={session && { userId: session.userId, name: session.name, initialStatus: session.emailStatus }}
          renderedAt={systemContext().clock.now().toISOString()}
        />
      </Card>
    </CenteredPage>
  )
}
