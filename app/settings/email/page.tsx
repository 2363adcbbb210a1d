import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { EmailSettings } from '@/components/email/email-settings'
import { PageHeading } from '@/components/page-heading'
import { waysToConfirm } from '@/domain/access/fresh-sign-in'
import { currentSession, pageContext } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Email address' }

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function EmailSettingsPage({ searchParams }: Props) {
  const [ctx, session] = await Promise.all([pageContext(), currentSession()])
  if (!ctx || !session) redirect('/sign-in?next=/settings/email')
  const ways = await waysToConfirm(ctx, 'change')
  const { unconfirmed } = await searchParams
  return (
    <>
      <PageHeading
        title="Email address"
        description={`${ways.hasPassword ? 'You sign in with this address, and we' : 'We'} write to you there.`}
      />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <EmailSettings
        userId={session.userId}
        ways={ways}
        initialStatus={session.emailStatus}
        renderedAt={ctx.clock.now().toISOString()}
      />
    </>
  )
}
