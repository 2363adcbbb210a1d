import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'accountWithdrawalStarted'>
  userName: Slot
  /** The fragment holds the status token. */
  progressUrl: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  doneBy: Slot
  /** Such as “30 days”. */
  retention: Slot
}

export default function AccountWithdrawalStarted({ look, t, userName, progressUrl, doneBy, retention }: Props) {
  return (
    <Layout
      look={look}
      preview={t('preview', { doneBy })}
      title={t('title')}
      reason={t('reason')}
      footnote={t.rich('footnote', marks(look))}
    >
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts
        facts={[
          [t('doneBy'), doneBy],
          [t('kept'), t('keptFor', { retention })],
        ]}
      />
      <Paragraph>{t('follow')}</Paragraph>
      <LinkPanel look={look} href={progressUrl} label={t('button')} />
    </Layout>
  )
}
