import type { Route } from 'next'
import { AccountMenu } from './account-menu'
import { Brand } from './brand'

interface SiteHeaderProps {
  account: { name: string; email: string; isOperator: boolean } | null
  /** Shown on the right where there is no account. */
  link?: { href: Route; label: string }
}

export function SiteHeader({ account, link }: SiteHeaderProps) {
  return (
    <header className="print:hidden border-line border-b bg-surface">
      <div className="mx-auto flex min-h-16 max-w-5xl items-center justify-between gap-x-edge px-edge py-2 sm:px-6">
        <Brand />
        {account && <AccountMenu {...account} />}
        {!account && link && (
          <a
            href={link.href}
            className="inline-flex min-h-11 items-center rounded-lg px-2 font-medium text-ink-muted hover:text-ink"
          >
            {link.label}
          </a>
        )}
      </div>
    </header>
  )
}
