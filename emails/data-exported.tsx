import { Facts, Letter, type LetterProps, LinkPanel, marks, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'dataExported'> {
  /** Such as “20 November 2026 at 09:00 UTC”. */
  exportedAt: Slot
  ipAddress: Slot
  settingsUrl: Slot
}

export default function DataExported({ exportedAt, ipAddress, settingsUrl, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts
        facts={[
          [look.t('date'), exportedAt],
          [look.t('ipAddress'), ipAddress],
        ]}
      />
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
      <LinkPanel look={look} href={settingsUrl} label={t('button')} />
    </Letter>
  )
}

DataExported.PreviewProps = preview('dataExported', DataExported, {
  exportedAt: '20 November 2026 at 09:00 UTC',
  ipAddress: '203.0.113.7',
  settingsUrl: 'https://accounts.example.com/settings',
})
