import { titled } from '@/app/page-title'
import { undoneWithin } from '@/app/undo-window'
import { VerifyEmail } from '@/components/email/verify-email'
import { CenteredPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { textsOf } from '@/server/pages/language'
import { accountOf, currentSession } from '@/server/pages/session'
import { systemContext } from '@/server/system-context'

export const generateMetadata = titled('VerifyEmail', 'tab', { referrer: 'no-referrer' })

export default async function VerifyEmailPage() {
  const session = await currentSession()
  const account = session && accountOf(session)
  const { clock, hasPasswordSignIn } = systemContext()
  return (
    <CenteredPage account={account}>
      <Texts texts={await textsOf(['MailedLink', 'VerifyEmail'])}>
        <VerifyEmail
          reader={session && { userId: session.userId, name: session.name, initialStatus: session.emailStatus }}
          renderedAt={clock.now().toISOString()}
          hasPasswordSignIn={hasPasswordSignIn}
          undoneWithin={await undoneWithin()}
        />
      </Texts>
    </CenteredPage>
  )
}
