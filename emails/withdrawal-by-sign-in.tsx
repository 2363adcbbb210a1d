import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'withdrawalBySignIn'>
  userName: Slot
  settingsUrl: Slot
  ipAddress: Slot
}

/** The answer to a request for a deletion link where a mailbox alone may not delete the account. */
export default function WithdrawalBySignIn({ look, t, userName, settingsUrl, ipAddress }: Props) {
  return (
    <Layout
      look={look}
      preview={t('preview')}
      title={t('title')}
      reason={t('reason')}
      footnote={t.rich('footnote', marks(look))}
    >
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t('intro')}</Paragraph>
      <LinkPanel look={look} href={settingsUrl} label={t('button')} />
      <Facts facts={[[look.t('requestedFrom'), ipAddress]]} />
    </Layout>
  )
}
