import type { Metadata } from 'next'
import type { ReactNode } from 'react'
import { ColumnPage } from '@/components/layout/page'
import { PageHeading } from '@/components/layout/page-heading'
import { authorityLink } from '@/components/ui/authority-link'
import { Card, CardBody } from '@/components/ui/card'
import { Disclosure } from '@/components/ui/disclosure'
import { formatDuration } from '@/components/ui/duration'
import { linkTo } from '@/components/ui/link-to'
import { list } from '@/components/ui/list'
import { mailLink } from '@/components/ui/mail-link'
import { describeApplications, describeDeletion } from '@/domain/withdrawal/describe-deletion'
import { OUTCOMES } from '@/server/pages/ask-for-deletion'
import { unlessAway } from '@/server/pages/away'
import { pageLanguage, pageTexts } from '@/server/pages/language'
import { type PageProps, sessionIfReadable } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { systemContext } from '@/server/system-context'
import { AskByMail } from './ask-by-mail'
import { WhatIsErased, WhatIsKept } from './erased-and-kept'

export async function generateMetadata({ searchParams }: PageProps): Promise<Metadata> {
  const t = await pageTexts('DeletionPage')
  const { outcome } = await searchParams
  // Older browsers show only by Origin where a form comes from, and this policy lets them send it.
  return { title: t(outcome === 'sent' ? 'sentTitle' : 'tab'), referrer: 'same-origin' }
}

/** Needs no session, and works without a script: stores ask for a page where somebody without the app can ask for the deletion of an account. */
export default async function DeleteAccountPage({ searchParams }: PageProps) {
  const { outcome, again } = await searchParams
  const isSignedIn = (await sessionIfReadable()) !== null
  const { brand, supportEmail, authority } = getEnv()
  const { name: product, publisher } = brand
  const language = await pageLanguage()
  const t = await pageTexts('DeletionPage')
  const common = await pageTexts('Common')
  const form = await pageTexts('DeleteAccount')
  const ctx = systemContext()
  const deletion = describeDeletion(ctx)
  const applications = await unlessAway(describeApplications(ctx), { categories: [], reasons: [] })
  const longest = formatDuration(Math.max(...deletion.steps.map(({ withinMs }) => withinMs)) / 1000, language)
  return (
    <ColumnPage
      // The account menu needs a script.
      account={null}
      link={
        isSignedIn
          ? { href: '/settings/email', label: common('openSettings') }
          : { href: '/sign-in', label: common('signIn') }
      }
      className="max-w-2xl"
    >
      <PageHeading
        title={t('title', { product })}
        description={isSignedIn ? t.rich('signedIn', { link: linkTo('/settings/withdraw') }) : t('lead')}
      />
      <div className="space-y-6">
        <AskByMail
          outcome={OUTCOMES.find((one) => one === outcome)}
          isAgain={again !== undefined}
          isSignedIn={isSignedIn}
          language={language}
        />
        <Folded title={t('goesTitle')} text={t('goesText', { time: longest })}>
          <WhatIsErased {...deletion} />
        </Folded>
        <Folded title={t('staysTitle')} text={form.rich('summaryKept', { days: deletion.retentionDays, ...list })}>
          <WhatIsKept {...deletion} applications={applications} />
        </Folded>
        <div className="space-y-1 px-card text-ink-muted text-sm sm:px-6">
          {publisher && <p>{t('publisher', { product, publisher })}</p>}
          <p>{t.rich('contact', mailLink(supportEmail))}</p>
          {authority && <p>{common.rich('complain', authorityLink(authority))}</p>}
        </div>
      </div>
    </ColumnPage>
  )
}

/** The browser's own element, which works without a script. Its text says the main thing without being opened. */
const Folded = ({ title, text, children }: { title: string; text: ReactNode; children: ReactNode }) => (
  <Card>
    <CardBody className="space-y-1">
      <h2 className="font-semibold">{title}</h2>
      <div className="text-ink-muted">{text}</div>
      <FoldedList of={title}>{children}</FoldedList>
    </CardBody>
  </Card>
)

async function FoldedList({ of, children }: { of: string; children: ReactNode }) {
  const t = await pageTexts('DeletionPage')
  return (
    <Disclosure
      summary={
        <span>
          {t('everything')}
          <span className="sr-only">: {of}</span>
        </span>
      }
    >
      <div className="pt-3">{children}</div>
    </Disclosure>
  )
}
