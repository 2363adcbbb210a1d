import type { ReactNode } from 'react'
import { formatDuration } from '@/components/ui/duration'
import { Rows } from '@/components/ui/rows'
import type { Category } from '@/contract/vocabulary'
import type { describeApplications, describeDeletion } from '@/domain/withdrawal/describe-deletion'
import { pageLanguage, pageTexts } from '@/server/pages/language'

type Deletion = ReturnType<typeof describeDeletion>
interface WhatIsKeptProps extends Omit<Deletion, 'steps'> {
  applications: Awaited<ReturnType<typeof describeApplications>>
}

/** What each step deletes, and when. */
export async function WhatIsErased({ steps }: Pick<Deletion, 'steps'>) {
  const language = await pageLanguage()
  const t = await pageTexts('WhatHappens')
  const deletion = await pageTexts('Deletion')
  // A category that several steps erase is named once.
  const named = new Set<Category>()
  const firstNamed = steps.map((step) => ({
    ...step,
    erases: step.erases.filter((one) => !named.has(one) && named.add(one)),
  }))
  return (
    <Rows
      rows={firstNamed.map(({ step, withinMs, erases }) => [
        withinMs ? t('within', { time: formatDuration(withinMs / 1000, language) }) : t('immediately'),
        <div key={step}>
          <p className="text-ink">{deletion(`steps.${step}.title`)}</p>
          {erases.length > 0 ? <Categories of={erases} /> : <p>{deletion(`steps.${step}.text`)}</p>}
        </div>,
      ])}
    />
  )
}

const WHY: Partial<Record<Category, 'bookkeepingText' | 'securityText' | 'legalText'>> = {
  transaction_logs: 'bookkeepingText',
  security_incidents: 'securityText',
  legal_records: 'legalText',
}

/** What is kept, why and for how long. */
export async function WhatIsKept({ kept, untilPurge, retentionDays: days, applications }: WhatIsKeptProps) {
  const t = await pageTexts('DeletionPage')
  const form = await pageTexts('WhatHappens')
  const { categories, reasons } = applications
  const language = await pageLanguage()
  const listed = new Intl.ListFormat(language)
  const required = kept.filter((each) => each.for === 'law')
  const chosen = kept.filter((each) => each.for !== 'law')
  return (
    <div className="space-y-4">
      <Rows
        rows={[
          ...required.map(({ category }): [string, ReactNode] => [
            t(`categories.${category}`),
            <p key={category} data-category={category}>
              {form(`why.${WHY[category] ?? 'legalText'}`)} {t('forDays', { days })}
            </p>,
          ]),
          [
            form('staysRecord'),
            <div key="record">
              <p>
                {t('technicalWhy')} {t('forDays', { days })}
              </p>
              <Categories of={untilPurge} />
            </div>,
          ],
          [
            t('optionalTitle'),
            <div key="optional">
              <p>{t('optional', { days })}</p>
              <Categories of={chosen.map(({ category }) => category)} />
            </div>,
          ],
        ]}
      />
      <p className="text-ink-muted">{t('record')}</p>
      {categories.length > 0 && (
        <div className="text-ink-muted">
          <p>{t('appsText')}</p>
          <ul className="list-disc ps-5">
            {categories.map((category) => (
              <li key={category} data-category={category}>
                {category}
              </li>
            ))}
          </ul>
          <p>{t('appsWhy', { reasons: listed.format(reasons) })}</p>
        </div>
      )}
    </div>
  )
}

async function Categories({ of }: { of: readonly Category[] }) {
  const t = await pageTexts('DeletionPage')
  return (
    <ul className="list-disc ps-5">
      {of.map((category) => (
        <li key={category} data-category={category}>
          {t(`categories.${category}`)}
        </li>
      ))}
    </ul>
  )
}
