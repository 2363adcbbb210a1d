import Link from 'next/link'
import type { ReactNode } from 'react'
import { ColumnPage } from '../layout/page'
import { PageHeading } from '../layout/page-heading'
import { cn } from '../ui/class-names'
import { RefreshEvery } from '../ui/refresh-every'
import { LookUp } from './look-up'
import { navLink } from './nav-link'

const SECTIONS = [
  { href: '/admin', label: 'Overview' },
  { href: '/admin/withdrawals', label: 'Withdrawals' },
  { href: '/admin/apps', label: 'Applications' },
] as const

interface AdminPageProps {
  account: { name: string; email: string }
  /** The section that the page belongs to, and null for a person's page. */
  section: (typeof SECTIONS)[number]['href'] | null
  /** Whether the page is the section's first one. */
  isFirst?: boolean
  title: string
  description: string
  /** Whether the page is refreshed every few seconds. */
  refreshes?: boolean
  children: ReactNode
}

/** A page of /admin: its navigation, the search, and what the page shows. */
export const AdminPage = ({
  account,
  section,
  isFirst = true,
  title,
  description,
  refreshes = false,
  children,
}: AdminPageProps) => (
  <ColumnPage account={{ ...account, isOperator: true }}>
    <div className="mb-8 grid gap-x-10 gap-y-4 md:grid-cols-[1fr_24rem] md:items-start">
      <nav aria-label="Operations" className="-mx-3 md:pt-6">
        <ul className="flex gap-1">
          {SECTIONS.map(({ href, label }) => (
            <li key={href}>
              <Link
                href={href}
                aria-current={href === section ? (isFirst ? 'page' : 'true') : undefined}
                className={cn(navLink, 'h-11 px-3')}
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <LookUp />
    </div>
    <PageHeading title={title} description={description} />
    {refreshes && <RefreshEvery seconds={5} />}
    <div className="space-y-6">{children}</div>
  </ColumnPage>
)
