import { Facts, Letter, type LetterProps, LinkPanel, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'withdrawalBySignIn'> {
  settingsUrl: Slot
  ipAddress: Slot
}

/** The answer to a request for a deletion link where a mailbox alone may not delete the account. */
export default function WithdrawalBySignIn({ settingsUrl, ipAddress, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <LinkPanel look={look} href={settingsUrl} label={t('button')} />
      <Facts facts={[[look.t('requestedFrom'), ipAddress]]} />
    </Letter>
  )
}

WithdrawalBySignIn.PreviewProps = preview('withdrawalBySignIn', WithdrawalBySignIn, {
  settingsUrl: 'https://accounts.example.com/settings',
  ipAddress: '203.0.113.7',
})
