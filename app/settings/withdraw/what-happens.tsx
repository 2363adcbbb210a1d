import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatDuration } from '@/components/ui/duration'
import { LocalTime } from '@/components/ui/local-time'
import { Rows } from '@/components/ui/rows'
import type { Step } from '@/contract/withdrawal'
import { pageLanguage, pageTexts } from '@/server/pages/language'

interface WhatHappensProps {
  /** The time by which each step should be done, counted from the start; 0 for what the request itself does. */
  steps: readonly { step: Step; withinMs: number }[]
  retentionDays: number
  /** The time at which the kept records would be deleted. */
  keptUntil: string
}

/** Explains the deletion in full, folded below the short form on the first screen. */
export async function WhatHappens({ steps, retentionDays: days, keptUntil }: WhatHappensProps) {
  const t = await pageTexts('DeleteAccount')
  const deletion = await pageTexts('Deletion')
  const language = await pageLanguage()
  return (
    <div className="divide-y divide-line border-line border-t">
      <Folded title={t('whenTitle')}>
        <Rows
          rows={steps
            .toSorted((a, b) => a.withinMs - b.withinMs)
            .map(({ step, withinMs }) => [
              withinMs ? t('within', { time: formatDuration(withinMs / 1000, language) }) : t('immediately'),
              deletion(`steps.${step}.plan`, { days }),
            ])}
        />
      </Folded>
      <Folded title={t('whyTitle')}>
        <Rows
          rows={[
            [t('why.bookkeeping'), t('why.bookkeepingText')],
            [t('why.security'), t('why.securityText')],
            [t('why.legal'), t('why.legalText')],
            [t('staysRecord'), t('why.recordText')],
          ]}
        />
        <p className="mt-4 text-ink-muted">
          {t.rich('afterwards', { date: () => <LocalTime dateTime={keptUntil} format="date" /> })}
        </p>
      </Folded>
    </div>
  )
}

const Folded = ({ title, children }: { title: string; children: ReactNode }) => (
  <details className="group px-5 sm:px-6">
    <summary className="flex min-h-12 list-none items-center gap-2 py-2 font-medium [&::-webkit-details-marker]:hidden">
      <ChevronRight
        className="size-4 shrink-0 text-ink-muted group-open:rotate-90 rtl:group-not-open:rotate-180"
        aria-hidden
      />
      {title}
    </summary>
    <div className="pt-1 pb-5">{children}</div>
  </details>
)
