import type { ReactNode } from 'react'
import { SiteFooter } from './site-footer'
import { SiteHeader } from './site-header'

interface CenteredPageProps {
  account: { name: string; email: string } | null
  children: ReactNode
}

/** One card in the middle, for a page with one thing to do. */
export function CenteredPage({ account, children }: CenteredPageProps) {
  return (
    <>
      <SiteHeader account={account} />
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center px-4 py-12 outline-none sm:py-16"
      >
        {children}
      </main>
      <SiteFooter />
    </>
  )
}
