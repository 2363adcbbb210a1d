'use client'

import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useLocale, useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { previewWithdrawal } from '@/contract/withdrawal'
import { useHost } from '../host/host'
import { bold } from '../ui/bold'
import { Button } from '../ui/button'
import { Card, CardBody } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { Rows } from '../ui/rows'
import { useCategoryTexts } from './category-texts'

export type Counts = Pick<Answer<typeof previewWithdrawal>, 'erased' | 'retained'>

/** The numbers of open sessions and tokens, which the other pages show too. Ended ones are deleted with the rest. */
type OpenAccess = Partial<Record<'sessions' | 'access_tokens', number>>

export interface DeletionOverviewProps {
  userId: string
  email: string
  /** Null if the server could not count; then the page asks once more. */
  counts: Counts | null
  open: OpenAccess
  renderedAt: string
  applications: readonly { name: string; isToldAtOnce: boolean }[]
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  retentionDays: number
  /** The time at which the kept records would be deleted. */
  keptUntil: string
  /** The full explanation, folded. */
  details: ReactNode
  /** The buttons. */
  children: ReactNode
}

/** A short overview of the deletion: the erased and the kept records, and the applications that are notified. */
export function DeletionOverview(props: DeletionOverviewProps) {
  const { email, renderedAt, applications, deletedWithin, retentionDays, keptUntil, details, children } = props
  const t = useTranslations('DeleteAccount')
  const language = useLocale()
  const { countsText, listed } = useCategoryTexts()
  const preview = useCounts(props.userId, props.counts, renderedAt)
  const kept = preview.data?.retained ?? []
  const staying = [...kept.map((count) => countsText([count])), t('staysRecordListed')]
  return (
    <Card className="border-danger/45">
      <div className="flex gap-3 rounded-t-2xl bg-danger-soft px-5 py-4 sm:px-6">
        <TriangleAlert className="mt-0.5 size-5 shrink-0 text-danger" aria-hidden />
        <div className="min-w-0">
          <h2 className="font-semibold">{t('dangerTitle')}</h2>
          <p className="wrap-anywhere text-ink-muted">
            {t.rich('dangerText', { address: email, time: deletedWithin, email: bold })}
          </p>
        </div>
      </div>
      <CardBody>
        <Rows
          rows={[
            [t('goes'), <Erased key="goes" preview={preview} open={props.open} />],
            [
              t('stays', { days: retentionDays }),
              <span key="stays" className="tabular-nums">
                {t.rich('staysText', {
                  what: capitalised(listed(staying), language),
                  date: () => <LocalTime dateTime={keptUntil} format="date" />,
                })}
              </span>,
            ],
            [t('notify'), <Notified key="notify" applications={applications} />],
          ]}
        />
      </CardBody>
      {details}
      <div className="flex flex-col gap-3 border-line border-t px-5 py-4 sm:flex-row-reverse sm:flex-wrap sm:justify-start sm:px-6">
        {children}
      </div>
    </Card>
  )
}

function useCounts(userId: string, counts: Counts | null, renderedAt: string): UseQueryResult<Counts> {
  const { call } = useHost()
  return useQuery<Counts>({
    queryKey: ['withdrawal-preview', userId],
    queryFn: () => call('previewWithdrawal', { userId }),
    initialData: counts ?? undefined,
    initialDataUpdatedAt: Date.parse(renderedAt),
    staleTime: 60_000,
    // The next visit begins with what the server renders then.
    gcTime: 0,
    retry: false,
  })
}

function Erased({ preview, open }: { preview: UseQueryResult<Counts>; open: OpenAccess }) {
  const t = useTranslations('DeleteAccount')
  const { peoplesText } = useCategoryTexts()
  return (
    <div aria-live="polite" className="tabular-nums">
      {preview.data ? (
        peoplesText(preview.data.erased, open)
      ) : preview.isError ? (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p>{t('notCounted')}</p>
          <Button variant="secondary" size="small" isPending={preview.isFetching} onClick={() => preview.refetch()}>
            {t('countAgain')}
          </Button>
        </div>
      ) : (
        t('counting')
      )}
    </div>
  )
}

function Notified({ applications }: Pick<DeletionOverviewProps, 'applications'>) {
  const t = useTranslations('DeleteAccount')
  const { listed } = useCategoryTexts()
  const namesOf = (apps: typeof applications) => [...new Set(apps.map(({ name }) => name))]
  const [now, all] = [namesOf(applications.filter(({ isToldAtOnce }) => isToldAtOnce)), namesOf(applications)]
  return (
    <div>
      <p>{t('notifyYou')}</p>
      {now.length > 0 && <p>{t('notifyNow', { apps: listed(now) })}</p>}
      {all.length > 0 && <p>{t('notifyDay', { apps: listed(all) })}</p>}
      {applications.length === 0 && <p>{t('notifyNone')}</p>}
    </div>
  )
}

const capitalised = (text: string, language: string) => text.charAt(0).toLocaleUpperCase(language) + text.slice(1)
