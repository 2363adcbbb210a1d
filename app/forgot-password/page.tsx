import { notFound } from 'next/navigation'
import { titled } from '@/app/page-title'
import { CenteredPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { ForgotPassword } from '@/components/password/forgot-password'
import { textsOf } from '@/server/pages/language'
import { accountOf, sessionIfReadable } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { isMailAway } from '@/server/watch/health'

export const generateMetadata = titled('Passwords', 'forgotTab')

export default async function ForgotPasswordPage() {
  if (!getEnv().hasPasswordSignIn) notFound()
  const session = await sessionIfReadable()
  return (
    <CenteredPage account={session && accountOf(session)}>
      <Texts texts={await textsOf(['Passwords'])}>
        <ForgotPassword isMailLate={await isMailAway()} />
      </Texts>
    </CenteredPage>
  )
}
