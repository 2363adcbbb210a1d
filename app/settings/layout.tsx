import type { ReactNode } from 'react'
import { SiteFooter } from '@/components/site-footer'
import { SiteHeader } from '@/components/site-header'
import { currentSession } from '@/server/pages/session'
import { SettingsNav } from './settings-nav'

export default async function SettingsLayout({ children }: { children: ReactNode }) {
  const session = await currentSession()
  // The page itself sends a visitor to sign in: only it knows where to come back to.
  if (!session) return children
  return (
    <>
      <SiteHeader account={{ name: session.name, email: session.emailStatus.current_email }} />
      <div className="mx-auto grid w-full max-w-5xl flex-1 content-start gap-x-12 gap-y-6 px-4 py-6 sm:px-6 lg:grid-cols-[11rem_minmax(0,40rem)] lg:py-12">
        <SettingsNav />
        <main id="content" tabIndex={-1} className="min-w-0 outline-none">
          {children}
        </main>
      </div>
      <SiteFooter />
    </>
  )
}
