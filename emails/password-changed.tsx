import { Facts, Letter, type LetterProps, LinkPanel, marks, type Origin, originFacts, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'passwordChanged'>, Origin {
  resetUrl: Slot
  /** Whether people sign in with a password here. */
  canReset: boolean
}

export default function PasswordChanged({ at, device, ipAddress, resetUrl, canReset, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts facts={originFacts(look, { at, device, ipAddress })} />
      <Paragraph>{t.rich(canReset ? 'notYouReset' : 'notYou', marks(look))}</Paragraph>
      {canReset && <LinkPanel look={look} href={resetUrl} label={t('button')} />}
    </Letter>
  )
}

PasswordChanged.PreviewProps = preview('passwordChanged', PasswordChanged, {
  at: '20 November 2026 at 09:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '203.0.113.7',
  resetUrl: 'https://accounts.example.com/forgot-password',
  canReset: true,
})
