import { Facts, Letter, type LetterProps, LinkPanel, marks, type Origin, originFacts, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'dataExported'>, Origin {
  settingsUrl: Slot
}

export default function DataExported({ at, device, ipAddress, settingsUrl, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts facts={originFacts(look, { at, device, ipAddress })} />
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
      <LinkPanel look={look} href={settingsUrl} label={t('button')} />
    </Letter>
  )
}

DataExported.PreviewProps = preview('dataExported', DataExported, {
  at: '20 November 2026 at 09:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '203.0.113.7',
  settingsUrl: 'https://accounts.example.com/settings',
})
