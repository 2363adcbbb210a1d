import type { ReactNode } from 'react'
import { Facts, Layout, LinkPanel, type Look, marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

export interface LinkLetterProps<T> {
  look: Look
  t: T
  userName: Slot
  /** The fragment holds the token. */
  link: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  endsAt: Slot
  ipAddress: Slot
}

/** A letter with a link that works once; `children` stand above the link. */
export function LinkLetter({
  look,
  t,
  userName,
  link,
  endsAt,
  ipAddress,
  children,
}: LinkLetterProps<LetterTexts<'passwordReset'> | LetterTexts<'withdrawalRequested'>> & { children?: ReactNode }) {
  return (
    <Layout
      look={look}
      preview={t('preview', { until: endsAt })}
      title={t('title')}
      reason={t('reason')}
      footnote={t.rich('footnote', marks(look))}
    >
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t('intro')}</Paragraph>
      {children}
      <LinkPanel look={look} href={link} label={t('button')} />
      <Facts
        facts={[
          [t('until'), endsAt],
          [look.t('requestedFrom'), ipAddress],
        ]}
      />
    </Layout>
  )
}
