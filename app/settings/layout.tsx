import type { ReactNode } from 'react'
import { WatchSession } from '@/components/email/email-status'
import { Main } from '@/components/layout/main'
import { Page } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { ReturnLink } from '@/components/session/return-link'
import { Alert } from '@/components/ui/alert'
import { pageTexts, textsOf } from '@/server/pages/language'
import { accountOf, currentSession, pageContext } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { LinkElsewhere } from './link-elsewhere'
import { SettingsNav } from './settings-nav'

export default async function SettingsLayout({ children }: { children: ReactNode }) {
  const [ctx, session] = await Promise.all([pageContext(), currentSession()])
  // The page redirects to the sign-in, because it knows the path to come back to.
  if (!ctx || !session) return children
  const { returnTo } = getEnv()
  const common = await pageTexts('Common')
  return (
    <Page account={accountOf(session)}>
      <WatchSession
        userId={session.userId}
        initialStatus={session.emailStatus}
        renderedAt={ctx.clock.now().toISOString()}
      />
      <div className="mx-auto grid w-full max-w-5xl flex-1 content-start gap-x-16 gap-y-6 px-edge py-6 sm:px-6 lg:grid-cols-[12rem_minmax(0,1fr)] lg:py-12">
        <SettingsNav />
        <Main className="min-w-0">
          <noscript className="mb-6 block">
            <Alert tone="warning" title={common('noScript')} />
          </noscript>
          {returnTo.length > 0 && <ReturnLink allowed={returnTo} />}
          {session.emailStatus.email_undeliverable && (
            <UndeliverableAddress email={session.emailStatus.current_email} />
          )}
          <Texts texts={await textsOf(['Identity'])}>{children}</Texts>
        </Main>
      </div>
    </Page>
  )
}

async function UndeliverableAddress({ email }: { email: string }) {
  const t = await pageTexts('EmailSettings')
  return (
    <Alert
      tone="warning"
      title={t('ownUndeliverableTitle')}
      text={t('ownUndeliverableText', { email })}
      className="mb-6"
    >
      <LinkElsewhere href="/settings/email">{t('ownUndeliverableLink')}</LinkElsewhere>
    </Alert>
  )
}
