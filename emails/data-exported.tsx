import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'dataExported'>
  userName: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  exportedAt: Slot
  ipAddress: Slot
  settingsUrl: Slot
}

export default function DataExported({ look, t, userName, exportedAt, ipAddress, settingsUrl }: Props) {
  return (
    <Layout look={look} preview={t('preview')} title={t('title')} reason={t('reason')} footnote={t('footnote')}>
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts
        facts={[
          [look.t('date'), exportedAt],
          [look.t('ipAddress'), ipAddress],
        ]}
      />
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
      <LinkPanel look={look} href={settingsUrl} label={t('button')} />
    </Layout>
  )
}
