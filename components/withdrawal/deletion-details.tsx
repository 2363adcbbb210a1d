'use client'

import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { previewWithdrawal } from '@/contract/withdrawal'
import { useHost } from '../host/host'
import { Button } from '../ui/button'
import { Disclosure } from '../ui/disclosure'
import { LocalTime } from '../ui/local-time'
import { Rows } from '../ui/rows'
import { useCategoryTexts, useListed } from './category-texts'
import { namesOf } from './deletion-summary'

export type Counts = Pick<Answer<typeof previewWithdrawal>, 'erased' | 'retained'>

interface DeletionDetailsProps {
  /** What is deleted, with its numbers. */
  goes: ReactNode
  applications: readonly { name: string; isNotifiedAtOnce: boolean }[]
  retentionDays: number
  /** The time at which the kept records would be deleted. */
  keptUntil: string
  /** The full explanation, rendered on the server; null in a page of an adopter. */
  details: ReactNode
}

export interface CountedDetailsProps extends Omit<DeletionDetailsProps, 'goes'> {
  userId: string
  /** Null if the server could not count; then the page asks once more. */
  counts: Counts | null
  renderedAt: string
}

/** The details in the form of the settings, counted again after a while. */
export function CountedDetails({ userId, counts, renderedAt, ...shown }: CountedDetailsProps) {
  const preview = useCounts(userId, counts, renderedAt)
  return <DeletionDetails goes={<Erased preview={preview} />} {...shown} />
}

/** What is deleted, what stays and who is notified, folded. */
export function DeletionDetails({ goes, applications, retentionDays: days, keptUntil, details }: DeletionDetailsProps) {
  const t = useTranslations('DeleteAccount')
  const keptLonger = useKeptLonger(applications.length > 0)
  const stays = (
    <div className="space-y-1">
      <p>{t.rich('staysText', { date: () => <LocalTime dateTime={keptUntil} format="date" /> })}</p>
      <p>{t('staysPayments')}</p>
    </div>
  )
  return (
    <Disclosure summary={t('detailsTitle')}>
      <div className="space-y-6 pt-3">
        <Rows
          rows={[
            [t('goes'), goes],
            // The full explanation says it record by record.
            ...(details ? [] : [[t('stays', { days }), stays] as const, ...keptLonger()]),
            [t('notify'), <Notified key="notify" applications={applications} />],
          ]}
        />
        {details}
      </div>
    </Disclosure>
  )
}

/** The rows of what stays after the retention. Called only in a page of an adopter, because ours do not load its texts. */
function useKeptLonger(hasApplications: boolean) {
  const t = useTranslations('Deletion')
  const items = ['receipts', 'entry', ...(hasApplications ? (['appId'] as const) : [])] as const
  return () => items.map((item) => [t(`keptItems.${item}`), t(`keptItems.${item}Why`)] as const)
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

function Erased({ preview }: { preview: UseQueryResult<Counts> }) {
  const t = useTranslations('DeleteAccount')
  const { peoplesText } = useCategoryTexts()
  return (
    <div aria-live="polite" className="tabular-nums first-letter:uppercase">
      {preview.data ? (
        peoplesText(preview.data.erased)
      ) : preview.isError ? (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p>{t('notCounted')}</p>
          <Button
            type="button"
            variant="secondary"
            size="small"
            isPending={preview.isFetching}
            onClick={() => preview.refetch()}
          >
            {t('countAgain')}
          </Button>
        </div>
      ) : (
        t('counting')
      )}
    </div>
  )
}

function Notified({ applications }: Pick<DeletionDetailsProps, 'applications'>) {
  const t = useTranslations('DeleteAccount')
  const listed = useListed()
  const [now, all] = [namesOf(applications.filter(({ isNotifiedAtOnce }) => isNotifiedAtOnce)), namesOf(applications)]
  return (
    <div>
      <p>{t('notifyYou')}</p>
      {now.length > 0 && <p>{t('notifyNow', { apps: listed(now) })}</p>}
      {all.length > 0 && <p>{t('notifyThen', { apps: listed(all) })}</p>}
    </div>
  )
}
