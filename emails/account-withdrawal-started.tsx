import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'accountWithdrawalStarted'>
  /** Whose call began it. `service` and `support` act on the person's behalf. */
  askedBy: 'person' | 'service' | 'support'
  userName: Slot
  /** The fragment holds the status token. */
  progressUrl: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  doneBy: Slot
  /** Such as “30 days”. */
  retention: Slot
}

const INTRO = { person: 'intro', service: 'introService', support: 'introSupport' } as const

export default function AccountWithdrawalStarted({
  look,
  t,
  askedBy,
  userName,
  progressUrl,
  doneBy,
  retention,
}: Props) {
  return (
    <Layout
      look={look}
      preview={t('preview', { doneBy })}
      title={t('title')}
      reason={t('reason')}
      footnote={t.rich('footnote', marks(look))}
    >
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t(INTRO[askedBy])}</Paragraph>
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
