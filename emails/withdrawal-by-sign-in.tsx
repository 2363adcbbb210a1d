import { Facts, Letter, type LetterProps, LinkPanel, type Origin, originFacts, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'withdrawalBySignIn'>, Origin {
  settingsUrl: Slot
}

/** The answer to a request for a deletion link where a mailbox alone may not delete the account. */
export default function WithdrawalBySignIn({ settingsUrl, at, device, ipAddress, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <LinkPanel look={look} href={settingsUrl} label={t('button')} />
      <Facts facts={originFacts(look, { at, device, ipAddress }, 'requestedAt')} />
    </Letter>
  )
}

WithdrawalBySignIn.PreviewProps = preview('withdrawalBySignIn', WithdrawalBySignIn, {
  settingsUrl: 'https://accounts.example.com/settings',
  at: '20 November 2026 at 09:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '203.0.113.7',
})
