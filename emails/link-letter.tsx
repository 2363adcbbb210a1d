import type { ReactNode } from 'react'
import { Facts, Letter, type LetterProps, LinkPanel, type Origin, originFacts, Paragraph } from './layout'
import type { Slot } from './slot'

export interface LinkLetterProps<Name extends 'passwordReset' | 'withdrawalRequested'>
  extends LetterProps<Name>,
    Origin {
  /** The fragment holds the token. */
  link: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  endsAt: Slot
  /** Such as “30 minutes”. */
  validity: Slot
}

/** A letter with a link that works once; `children` stand below the link. */
export function LinkLetter({
  link,
  endsAt: until,
  validity,
  children,
  ...letter
}: LinkLetterProps<'passwordReset' | 'withdrawalRequested'> & { children?: ReactNode }) {
  const { look, t } = letter
  return (
    <Letter {...letter} preview={t('preview', { until })}>
      <Paragraph>{t('intro')}</Paragraph>
      <LinkPanel look={look} href={link} label={t('button')} />
      {children}
      <Facts
        facts={[[t('until'), look.t('endsAt', { until, validity })], ...originFacts(look, letter, 'requestedAt')]}
      />
    </Letter>
  )
}
