import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { EmailSettings } from '@/components/email/email-settings'
import { PageHeading } from '@/components/page-heading'
import { systemContext } from '@/server/context'
import { currentSession } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Email address' }

export default async function EmailSettingsPage() {
  const session = await currentSession()
  if (!session) redirect('/sign-in?next=/settings/email')
  return (
    <>
      <PageHeading title="Email address" description="You sign in with this address, and we write to you there." />
      <EmailSettings
        userId={session.userId}
        initialStatus={session.emailStatus}
        renderedAt={systemContext().clock.now().toISOString()}
      />
    </>
  )
}
