import { Facts, Letter, type LetterProps, LinkPanel, marks, originFacts, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'passwordChanged'> {
  /** Such as “20 November 2026 at 09:00 UTC”. */
  changedAt: Slot
  ipAddress: Slot
  /** Such as “Firefox on Linux”. */
  device: Slot
  hasDevice: boolean
  resetUrl: Slot
  /** Whether people sign in with a password here. */
  canReset: boolean
}

export default function PasswordChanged({
  changedAt,
  device,
  ipAddress,
  hasDevice,
  resetUrl,
  canReset,
  ...letter
}: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts facts={originFacts(look, { at: changedAt, device, ipAddress, hasDevice })} />
      <Paragraph>{t.rich(canReset ? 'notYouReset' : 'notYou', marks(look))}</Paragraph>
      {canReset && <LinkPanel look={look} href={resetUrl} label={t('button')} />}
    </Letter>
  )
}

PasswordChanged.PreviewProps = preview('passwordChanged', PasswordChanged, {
  changedAt: '20 November 2026 at 09:00 UTC',
  ipAddress: '203.0.113.7',
  device: 'Firefox on Linux',
  hasDevice: true,
  resetUrl: 'https://accounts.example.com/forgot-password',
  canReset: true,
})
