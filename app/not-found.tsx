import type { Metadata } from 'next'
import Link from 'next/link'
import { CenteredPage } from '@/components/page'
import { buttonStyle } from '@/components/ui/button-style'
import { accountOf, currentSession } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Page not found' }

export default async function NotFound() {
  // The page is not found without the database too.
  const session = await currentSession().catch(() => null)
  const account = session && accountOf(session)
  return (
    <CenteredPage account={account}>
      <p className="font-mono text-ink-muted text-sm">404</p>
      <h1 className="mt-2 font-semibold text-3xl leading-9 tracking-[-0.03em]">This page does not exist</h1>
      <p className="mt-3 text-ink-muted">
        The address may be mistyped, or the page has moved. Your account is not affected.
      </p>
      <div className="mt-8 flex flex-col gap-3 sm:flex-row">
        <Link href="/settings/email" className={buttonStyle()}>
          Open settings
        </Link>
        <Link href="/" className={buttonStyle({ variant: 'secondary' })}>
          Go to the start page
        </Link>
      </div>
    </CenteredPage>
  )
}
