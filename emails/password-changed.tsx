import { Facts, Letter, type LetterProps, LinkPanel, marks, type Origin, originFacts, Paragraph } from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'passwordChanged'>, Origin {
  resetUrl: Slot
  /** Whether people sign in with a password here. */
  canReset: boolean
  /** Whether the browser that changed it stays signed in. */
  keepsBrowser: boolean
}

export default function PasswordChanged({ resetUrl, canReset, keepsBrowser, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t(keepsBrowser ? 'intro' : 'introEverywhere')}</Paragraph>
      <Facts facts={originFacts(look, letter)} />
      <Paragraph>{t.rich(canReset ? 'notYouReset' : 'notYou', marks(look))}</Paragraph>
      {canReset && <LinkPanel look={look} href={resetUrl} label={t('button')} />}
    </Letter>
  )
}

PasswordChanged.PreviewProps = preview('passwordChanged', PasswordChanged, {
  ...ORIGIN,
  resetUrl: 'https://accounts.example.com/forgot-password',
  canReset: true,
  keepsBrowser: true,
})
