import type { ReactNode } from 'react'
import { titled } from '@/app/page-title'
import { ColumnPage } from '@/components/layout/page'
import { PageHeading } from '@/components/layout/page-heading'
import { Card, CardBody } from '@/components/ui/card'
import { CardHeader } from '@/components/ui/card-header'
import { mailLink } from '@/components/ui/mail-link'
import { dateTag } from '@/contract/languages'
import { pageLanguage, pageTexts } from '@/server/pages/language'
import { accountOf, sessionIfReadable } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { AUDIT_ENGINES, AUDITED_ON } from './audit-engines'

export const generateMetadata = titled('Accessibility', 'title')

/** The accessibility statement that Directive (EU) 2019/882 requires. */
export default async function AccessibilityPage() {
  const session = await sessionIfReadable()
  const t = await pageTexts('Accessibility')
  const common = await pageTexts('Common')
  const { supportEmail: address } = getEnv()
  const language = await pageLanguage()
  const engine = new Intl.ListFormat(language).format(AUDIT_ENGINES)
  const date = new Intl.DateTimeFormat(dateTag(language), { dateStyle: 'long', timeZone: 'UTC' }).format(AUDITED_ON)
  return (
    <ColumnPage
      account={session && accountOf(session)}
      link={{ href: '/sign-in', label: common('signIn') }}
      className="max-w-3xl"
    >
      <PageHeading title={t('title')} description={t('description')} />
      <div className="space-y-6">
        <Section title={t('auditedTitle')}>
          <p>{t('auditedPages')}</p>
          <p>{t('auditedKeyboard')}</p>
        </Section>
        <Section title={t('withTitle')}>
          <p>{t('withText', { engine, date })}</p>
        </Section>
        <Section title={t('failsTitle')}>
          <p>{t('failsMachine')}</p>
          <p>{t('failsReader')}</p>
          <p>{t('failsEnglish')}</p>
        </Section>
        <Section title={t('writeTitle')}>
          <p>{t.rich('writeText', mailLink(address))}</p>
        </Section>
      </div>
    </ColumnPage>
  )
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card>
    <CardHeader title={title} />
    <CardBody className="space-y-3 pt-3 text-ink-muted">{children}</CardBody>
  </Card>
)
