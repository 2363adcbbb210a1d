import { Facts, Letter, type LetterProps, LinkPanel, marks, originFacts, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'dataExported'> {
  /** Such as “20 November 2026 at 09:00 UTC”. */
  exportedAt: Slot
  ipAddress: Slot
  /** Such as “Firefox on Linux”. */
  device: Slot
  hasDevice: boolean
  settingsUrl: Slot
}

export default function DataExported({ exportedAt, device, ipAddress, hasDevice, settingsUrl, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts facts={originFacts(look, { at: exportedAt, device, ipAddress, hasDevice })} />
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
      <LinkPanel look={look} href={settingsUrl} label={t('button')} />
    </Letter>
  )
}

DataExported.PreviewProps = preview('dataExported', DataExported, {
  exportedAt: '20 November 2026 at 09:00 UTC',
  ipAddress: '203.0.113.7',
  device: 'Firefox on Linux',
  hasDevice: true,
  settingsUrl: 'https://accounts.example.com/settings',
})
