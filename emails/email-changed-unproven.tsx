import { Facts, Layout, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'emailChanged'>
  oldEmail: Slot
  newEmailMasked: Slot
  changedAt: Slot
}

/** To an old address whose reader may be anybody: it names neither the person nor where the change came from. */
export default function EmailChangedUnproven({ look, t, oldEmail, newEmailMasked, changedAt }: Props) {
  return (
    <Layout
      look={look}
      preview={t('introUnproven')}
      title={t('titleUnproven')}
      reason={t('reason')}
      footnote={t.rich('footnoteUnproven', marks(look))}
    >
      <Paragraph>{look.t('greetingNobody')}</Paragraph>
      <Paragraph>{t('introUnproven')}</Paragraph>
      <Facts
        facts={[
          [t('oldAddress'), oldEmail],
          [t('newAddress'), newEmailMasked],
          [look.t('date'), changedAt],
        ]}
      />
    </Layout>
  )
}

EmailChangedUnproven.PreviewProps = preview('emailChanged', EmailChangedUnproven, {
  oldEmail: 'ada@example.com',
  newEmailMasked: 'a•••@example.org',
  changedAt: '20 November 2026 at 09:00 UTC',
})
