import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'emailChangeRequested'>
  userName: Slot
  /** Not masked, because the letter goes there, and masked it could look like the new one. */
  currentEmail: Slot
  newEmailMasked: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  requestedAt: Slot
  ipAddress: Slot
  hasPassword: boolean
  /** The fragment holds the token. */
  notMeUrl: Slot
  notMeUntil: Slot
}

export default function EmailChangeRequested({
  look,
  t,
  userName,
  currentEmail,
  newEmailMasked,
  requestedAt,
  ipAddress,
  hasPassword,
  notMeUrl,
  notMeUntil,
}: Props) {
  return (
    <Layout look={look} preview={t('preview')} title={t('title')} reason={t('reason')} footnote={t('footnote')}>
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t(hasPassword ? 'intro' : 'introWithoutPassword')}</Paragraph>
      <Paragraph>{t.rich(hasPassword ? 'notYou' : 'notYouWithoutPassword', marks(look))}</Paragraph>
      <LinkPanel look={look} href={notMeUrl} label={t('button')} />
      <Facts
        facts={[
          [look.t('currentAddress'), currentEmail],
          [t('requestedAddress'), newEmailMasked],
          [look.t('date'), requestedAt],
          [look.t('ipAddress'), ipAddress],
        ]}
      />
      <Paragraph>{t.rich('linkEnds', { ...marks(look), until: notMeUntil })}</Paragraph>
    </Layout>
  )
}
