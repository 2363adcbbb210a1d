import type { ReactNode } from 'react'
import { Facts, type FrameProps, Letter, type LetterProps, marks, Paragraph, TextLink } from './layout'
import type { Slot } from './slot'

export interface WithdrawalLetterProps<Name extends 'accountWithdrawalStarted' | 'accountWithdrawalTold'>
  extends LetterProps<Name> {
  /** Whose call began it. `service` and `support` act on the person's behalf. */
  requestedBy: 'person' | 'service' | 'support'
  /** Such as “20 November 2026 at 09:00:12 UTC”. */
  requestedAt: Slot
  /** A sentence: by which way it was asked for. */
  requestedHow: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  doneBy: Slot
  /** Such as “30 days”. */
  retention: Slot
  keptUntil: Slot
  /** What the person chose to keep. */
  keptChosen: Slot
  keepsMore: boolean
  /** Where the person can complain, if the adopter has named it. */
  authority: Slot
  authorityUrl: Slot
  hasAuthority: boolean
}

const INTRO = { person: 'intro', service: 'introService', support: 'introSupport' } as const

/** A letter about a deletion that has begun; `action` stands above what comes of it. */
export function WithdrawalLetter({
  action,
  ...letter
}: WithdrawalLetterProps<'accountWithdrawalStarted' | 'accountWithdrawalTold'> & FrameProps & { action?: ReactNode }) {
  const { look, t, retention, keptUntil } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t(INTRO[letter.requestedBy])}</Paragraph>
      {action}
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
      <Facts
        facts={[
          [look.t('requestedAt'), letter.requestedAt],
          [look.t('requestedHow'), letter.requestedHow],
          [t('doneBy'), letter.doneBy],
          [look.t('kept', { retention }), look.t('keptFor', { keptUntil })],
          ...(letter.keepsMore
            ? [[look.t('keptChosen'), look.t('keptChosenFor', { what: letter.keptChosen, keptUntil })] as const]
            : []),
          [look.t('keptReceipt'), look.t('keptReceiptIs')],
          [look.t('keptNote'), look.t('keptNoteIs')],
        ]}
      />
      {letter.hasAuthority && (
        <Paragraph>
          {look.t.rich('complain', {
            authority: () => (
              <TextLink look={look} href={letter.authorityUrl}>
                {letter.authority}
              </TextLink>
            ),
          })}
        </Paragraph>
      )}
    </Letter>
  )
}
