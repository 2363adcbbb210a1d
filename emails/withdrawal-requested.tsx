import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'withdrawalRequested'>
  userName: Slot
  /** The fragment holds the token. */
  link: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  endsAt: Slot
  ipAddress: Slot
}

export default function WithdrawalRequested({ look, t, userName, link, endsAt, ipAddress }: Props) {
  return (
    <Layout
      look={look}
      preview={t('preview', { until: endsAt })}
      title={t('title')}
      reason={t('reason')}
      footnote={t.rich('footnote', marks(look))}
    >
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t('intro')}</Paragraph>
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
      <LinkPanel look={look} href={link} label={t('button')} />
      <Facts
        facts={[
          [t('until'), endsAt],
          [look.t('requestedFrom'), ipAddress],
        ]}
      />
    </Layout>
  )
}
