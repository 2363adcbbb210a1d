import { titled } from '@/app/page-title'
import { heldFor } from '@/app/undo-window'
import { NotMe } from '@/components/email/not-me'
import { CenteredPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { textsOf } from '@/server/pages/language'
import { newPasswordRules } from '@/server/pages/new-password-rules'
import { getEnv } from '@/server/settings/env'

export const generateMetadata = titled('NotMe', 'tabTitle', { referrer: 'no-referrer' })

/** Needs no session: the browser reads the change with the token in the link's fragment, which is never sent here. */
export default async function NotMePage() {
  const { supportEmail, hasPasswordSignIn } = getEnv()
  return (
    <CenteredPage account={null}>
      <Texts texts={await textsOf(['MailedLink', 'NewPassword', 'NotMe', 'Sessions'])}>
        <NotMe {...{ supportEmail, hasPasswordSignIn }} rules={newPasswordRules()} heldFor={await heldFor()} />
      </Texts>
    </CenteredPage>
  )
}
