import type { ReactNode } from 'react'
import { Main } from '@/components/layout/main'
import { Page } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { ReturnLink } from '@/components/session/return-link'
import { textsOf } from '@/server/pages/language'
import { accountOf, currentSession } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { SettingsNav } from './settings-nav'

export default async function SettingsLayout({ children }: { children: ReactNode }) {
  const session = await currentSession()
  // The page redirects to the sign-in, because it knows the path to come back to.
  if (!session) return children
  const { returnTo } = getEnv()
  return (
    <Page account={accountOf(session)}>
      <div className="mx-auto grid w-full max-w-5xl flex-1 content-start gap-x-12 gap-y-6 px-4 py-6 sm:px-6 lg:grid-cols-[11rem_minmax(0,40rem)] lg:py-12">
        <SettingsNav />
        <Main className="min-w-0">
          {returnTo.length > 0 && <ReturnLink allowed={returnTo} />}
          <Texts texts={await textsOf(['Identity'])}>{children}</Texts>
        </Main>
      </div>
    </Page>
  )
}
