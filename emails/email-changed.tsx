import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'emailChanged'>
  userName: Slot
  oldEmail: Slot
  newEmail: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  changedAt: Slot
  ipAddress: Slot
  hasPassword: boolean
  /** Whether the letter has the link that undoes the change; only the letter to the old address has it. */
  canUndo: boolean
  /** The fragment holds the token. Empty without `canUndo`. */
  notMeUrl: Slot
  notMeUntil: Slot
}

export default function EmailChanged({
  look,
  t,
  userName,
  oldEmail,
  newEmail,
  changedAt,
  ipAddress,
  hasPassword,
  canUndo,
  notMeUrl,
  notMeUntil,
}: Props) {
  const facts = (
    <Facts
      facts={[
        [t('oldAddress'), oldEmail],
        [t('newAddress'), newEmail],
        [look.t('date'), changedAt],
        [look.t('ipAddress'), ipAddress],
      ]}
    />
  )
  if (canUndo) {
    return (
      <Layout
        look={look}
        preview={t('previewOld', { until: notMeUntil })}
        title={t('title')}
        reason={t('reasonOld')}
        footnote={t(hasPassword ? 'footnoteOld' : 'footnote')}
      >
        <Paragraph>{look.t('greeting', { userName })}</Paragraph>
        <Paragraph>
          {t.rich(hasPassword ? 'introOld' : 'introOldWithoutPassword', { ...marks(look), until: notMeUntil })}
        </Paragraph>
        <LinkPanel look={look} href={notMeUrl} label={t('button')} />
        {facts}
        <Paragraph>{t.rich('notYouOld', marks(look))}</Paragraph>
      </Layout>
    )
  }
  return (
    <Layout
      look={look}
      preview={t('preview', { newEmail })}
      title={t('title')}
      reason={t('reason')}
      footnote={t('footnote')}
    >
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t(hasPassword ? 'intro' : 'introWithoutPassword')}</Paragraph>
      {facts}
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
    </Layout>
  )
}
