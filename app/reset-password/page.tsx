import { notFound } from 'next/navigation'
import { titled } from '@/app/page-title'
import { CenteredPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { ResetPassword } from '@/components/password/reset-password'
import { textsOf } from '@/server/pages/language'
import { newPasswordRules } from '@/server/pages/new-password-rules'
import { accountOf, sessionIfReadable } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'

export const generateMetadata = titled('Passwords', 'chooseTitle', { referrer: 'no-referrer' })

export default async function ResetPasswordPage() {
  if (!getEnv().hasPasswordSignIn) notFound()
  const session = await sessionIfReadable()
  return (
    <CenteredPage account={session && accountOf(session)}>
      <Texts texts={await textsOf(['MailedLink', 'NewPassword', 'Passwords'])}>
        <ResetPassword rules={newPasswordRules()} />
      </Texts>
    </CenteredPage>
  )
}
