import type { ReactNode } from 'react'
import { EnglishLayout } from '@/app/english-layout'
import { LookUp } from '@/components/admin/look-up'
import { Outcomes } from '@/components/admin/outcomes'
import { Tabs } from '@/components/admin/tabs'
import { TimeZone } from '@/components/admin/time-zone'
import { ColumnPage } from '@/components/layout/page'
import { PageHeading } from '@/components/layout/page-heading'
import { CopyButton } from '@/components/ui/copy-button'
import { RefreshEvery } from '@/components/ui/refresh-every'
import { freshUntil } from '@/domain/sessions/fresh-sign-in'
import { accountOf, currentSession, pageContext } from '@/server/pages/session'

const SECTIONS = {
  '/admin': 'Overview',
  '/admin/withdrawals': 'Deletions',
  '/admin/apps': 'Apps',
  '/admin/undeliverable': 'Undeliverable',
}

interface AdminPageProps {
  /** The section of the page; it has none if it belongs to one person. */
  section?: keyof typeof SECTIONS
  title: string
  /** The id of what the page shows, after the title. */
  id?: string
  /** Stands beside the title. */
  aside?: ReactNode
  description: string
  /** Whether the page is refreshed every few seconds. */
  refreshes?: boolean
  children: ReactNode
}

/**
 * A page of /admin: its navigation, the search, and what the page shows. The English is its own, because whoever is no operator gets
 * the page for unknown paths in a language of theirs. Operators read the names of the deletion steps, and what stands
 * on receipts, as people read them.
 */
export async function AdminPage(props: AdminPageProps) {
  const { section, title, id, aside, description, refreshes = false, children } = props
  const [session, ctx] = await Promise.all([currentSession(), pageContext()])
  const until = ctx && freshUntil(ctx, 'operate')
  return (
    <EnglishLayout areas={['Deletion', 'Receipts']}>
      <ColumnPage
        account={session && accountOf(session)}
        above={
          <div className="mb-8 grid gap-x-10 gap-y-4 lg:grid-cols-[1fr_24rem] lg:items-start">
            <Tabs label="Operations" tabs={SECTIONS} current={section} />
            <LookUp />
          </div>
        }
      >
        <PageHeading
          title={
            <>
              {title} {id && <span className="inline-block font-mono font-normal text-base tracking-normal">{id}</span>}
            </>
          }
          aside={
            <>
              {/* On a line of its own its word begins where the title does. */}
              {id && (
                <span className="-ms-3">
                  <CopyButton text={id} label="the ID" />
                </span>
              )}
              {aside}
            </>
          }
          description={description}
        />
        {refreshes && <RefreshEvery seconds={5} canPause />}
        <div className="space-y-6">
          <Outcomes freshUntil={until?.toISOString() ?? null} isFresh={ctx && until ? ctx.clock.now() <= until : false}>
            {children}
          </Outcomes>
          {(section || id) && (
            <p className="text-ink-muted text-sm">
              Times are in <TimeZone />.
            </p>
          )}
        </div>
      </ColumnPage>
    </EnglishLayout>
  )
}
