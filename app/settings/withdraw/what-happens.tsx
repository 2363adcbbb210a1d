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
  /** False if no app is asked. */
  hasApps?: boolean
}

const AFTERWARDS = ['afterwardsRecord', 'afterwardsReceipts', 'afterwardsList', 'afterwardsApp'] as const

/** Explains the deletion in full. */
export async function WhatHappens({ steps, retentionDays: days, keptUntil, hasApps = true }: WhatHappensProps) {
  const t = await pageTexts('WhatHappens')
  const form = await pageTexts('DeleteAccount')
  const deletion = await pageTexts('Deletion')
  const language = await pageLanguage()
  return (
    <>
      <section className="space-y-3">
        <h2 className="font-semibold">{t('whenTitle')}</h2>
        <Rows
          rows={steps
            .filter(({ step }) => hasApps || step !== 'third_party_integrations')
            .toSorted((a, b) => a.withinMs - b.withinMs)
            .map(({ step, withinMs }) => [
              withinMs ? t('within', { time: formatDuration(withinMs / 1000, language) }) : t('immediately'),
              deletion(`steps.${step}.plan`, { days }),
            ])}
        />
      </section>
      <section className="space-y-3">
        <h2 className="font-semibold">{form('stays', { days })}</h2>
        <Rows
          rows={[
            [
              t('why.bookkeeping'),
              <div key="bookkeeping" className="space-y-1">
                <p>{t('why.bookkeepingText')}</p>
                <p>{form('staysPayments')}</p>
              </div>,
            ],
            [t('why.security'), t('why.securityText')],
            [t('why.legal'), t('why.legalText')],
            [t('staysRecord'), t('why.recordText')],
          ]}
        />
        <div className="text-ink-muted">
          <p>{t.rich('afterwards', { date: () => <LocalTime dateTime={keptUntil} format="date" /> })}</p>
          <ul className="mt-1 list-disc space-y-1 ps-5">
            {AFTERWARDS.filter((what) => hasApps || what !== 'afterwardsApp').map((what) => (
              <li key={what}>{t(what)}</li>
            ))}
          </ul>
        </div>
      </section>
    </>
  )
}
