import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'passwordChanged'>
  userName: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  changedAt: Slot
  ipAddress: Slot
  resetUrl: Slot
  /** Whether people sign in with a password here. */
  canReset: boolean
}

export default function PasswordChanged({ look, t, userName, changedAt, ipAddress, resetUrl, canReset }: Props) {
  return (
    <Layout look={look} preview={t('preview')} title={t('title')} reason={t('reason')} footnote={t('footnote')}>
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts
        facts={[
          [look.t('date'), changedAt],
          [look.t('ipAddress'), ipAddress],
        ]}
      />
      <Paragraph>{t.rich(canReset ? 'notYouReset' : 'notYou', marks(look))}</Paragraph>
      {canReset && <LinkPanel look={look} href={resetUrl} label={t('button')} />}
    </Layout>
  )
}
