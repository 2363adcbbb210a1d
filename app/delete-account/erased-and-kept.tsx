import { Fragment, type ReactNode } from 'react'
import { formatDuration } from '@/components/ui/duration'
import { Rows } from '@/components/ui/rows'
import { type Category, CHOICES, type KeptFor } from '@/contract/vocabulary'
import type { describeApplications, describeDeletion } from '@/domain/withdrawal/describe-deletion'
import { pageLanguage, pageTexts } from '@/server/pages/language'

type Deletion = ReturnType<typeof describeDeletion>
interface WhatIsKeptProps extends Omit<Deletion, 'steps'> {
  applications: Awaited<ReturnType<typeof describeApplications>>
}

/** What each step deletes, and when. */
export async function WhatIsErased({ steps, untilPurge }: Pick<Deletion, 'steps' | 'untilPurge'>) {
  const language = await pageLanguage()
  const t = await pageTexts('WhatHappens')
  const deletion = await pageTexts('Deletion')
  // A category that several steps erase is named once, and one of which a part stays, below what stays.
  const named = new Set<Category>(untilPurge)
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
  const deletion = await pageTexts('Deletion')
  const { categories, reasons } = applications
  const language = await pageLanguage()
  const listed = new Intl.ListFormat(language)
  const keptFor = (reason: KeptFor) => kept.filter((each) => each.for === reason).map(({ category }) => category)
  return (
    <div className="space-y-4">
      <Rows
        rows={[
          ...keptFor('law').map((category): [string, ReactNode] => [
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
              <ul className="list-disc ps-5">
                {CHOICES.map((choice) => (
                  <Choice key={choice} choice={choice} of={keptFor(choice)} />
                ))}
              </ul>
            </div>,
          ],
        ]}
      />
      <p className="text-ink-muted">{deletion('remains')}</p>
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

/** What nobody knows by its name. */
const TECHNICAL: readonly Category[] = [
  'sign_in_confirmations',
  'messages',
  'blockers',
  'events',
  'limits',
  'archive_keys',
  'caches',
  'repeated_calls',
  'ended_credentials',
  'ended_external_ids',
]

async function Categories({ of }: { of: readonly Category[] }) {
  const t = await pageTexts('DeletionPage')
  const technical = of.filter((category) => TECHNICAL.includes(category))
  return (
    <ul className="list-disc ps-5">
      {of
        .filter((category) => !technical.includes(category))
        .map((category) => (
          <li key={category} data-category={category}>
            {t(`categories.${category}`)}
          </li>
        ))}
      {technical.length > 0 && <li>{t.rich('technical', { names: () => <Names of={technical} /> })}</li>}
    </ul>
  )
}

/** A choice has the name of the settings, and says what else it covers. */
async function Choice({ choice, of }: { choice: (typeof CHOICES)[number]; of: readonly Category[] }) {
  const t = await pageTexts('DeleteAccount')
  const [first, ...others] = of.toSorted((a, b) => Number(b === choice) - Number(a === choice))
  return (
    <li>
      <span data-category={first}>{t(`choices.${choice}`)}</span>
      {others.length > 0 && (
        <>
          {' ('}
          <Names of={others} />)
        </>
      )}
    </li>
  )
}

async function Names({ of }: { of: readonly Category[] }) {
  const t = await pageTexts('DeletionPage')
  return of.map((category, index) => (
    <Fragment key={category}>
      {index > 0 && ' · '}
      <span data-category={category}>{t(`categories.${category}`)}</span>
    </Fragment>
  ))
}
