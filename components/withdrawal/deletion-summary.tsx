import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Authority } from '@/contract/errors'
import { useHost } from '../host/host'
import { bold } from '../ui/bold'
import { list } from '../ui/list'
import { textLink } from '../ui/text-link'
import { useListed } from './category-texts'
import { RightToComplain } from './right-to-complain'

interface SummaryProps {
  /** As the person knows it, or masked. */
  address: string
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
}

/** What goes, in one sentence. */
export function Summary({ address, deletedWithin: time }: SummaryProps) {
  const t = useTranslations('DeleteAccount')
  const { mayHavePassword } = useHost()
  return (
    <span className="wrap-anywhere">
      {t.rich('summary', { address, time, password: mayHavePassword ? 'yes' : 'no', email: bold })}
    </span>
  )
}

/** Each name once, because two applications may share one. */
export const namesOf = (applications: readonly { name: string }[]): string[] => [
  ...new Set(applications.map(({ name }) => name)),
]

interface SummaryNotesProps {
  applications: readonly { name: string }[]
  retentionDays: number
  authority: Authority | undefined
  /** Whether the copy needs a sign-in first. */
  isSignedOut?: boolean
  /** The details, folded. */
  children: ReactNode
}

/** What stays, who is asked to delete it too, the way to a copy, and the details. */
export function SummaryNotes({
  applications,
  retentionDays: days,
  authority,
  isSignedOut,
  children,
}: SummaryNotesProps) {
  const t = useTranslations('DeleteAccount')
  const listed = useListed()
  const { exportPath } = useHost()
  const apps = namesOf(applications)
  return (
    <div className="space-y-2">
      <div className="max-w-prose space-y-2 text-ink-muted">
        <div>{t.rich('summaryKept', { days, ...list })}</div>
        {apps.length > 0 && <p>{t('summaryApps', { apps: listed(apps) })}</p>}
        <RightToComplain authority={authority} />
      </div>
      <div>
        {exportPath && (
          <p>
            <a href={`${exportPath}?before=deletion`} className={`inline-flex min-h-11 items-center ${textLink}`}>
              {t(isSignedOut ? 'downloadByOwner' : 'download')}
            </a>
          </p>
        )}
        {children}
      </div>
    </div>
  )
}
