import { Facts, type FrameProps, Letter, type LetterProps, Paragraph } from './layout'
import type { Slot } from './slot'

export interface WithdrawalLetterProps<Name extends 'accountWithdrawalStarted' | 'accountWithdrawalTold'>
  extends LetterProps<Name> {
  /** Whose call began it. `service` and `support` act on the person's behalf. */
  askedBy: 'person' | 'service' | 'support'
  /** Such as “20 November 2026 at 09:00 UTC”. */
  doneBy: Slot
  /** Such as “30 days”. */
  retention: Slot
}

const INTRO = { person: 'intro', service: 'introService', support: 'introSupport' } as const

/** A letter about a deletion that has begun; `children` stand below what comes of it. */
export function WithdrawalLetter({
  askedBy,
  doneBy,
  retention,
  children,
  ...letter
}: WithdrawalLetterProps<'accountWithdrawalStarted' | 'accountWithdrawalTold'> & FrameProps) {
  const { t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t(INTRO[askedBy])}</Paragraph>
      <Facts
        facts={[
          [t('doneBy'), doneBy],
          [t('kept'), t('keptFor', { retention })],
        ]}
      />
      {children}
    </Letter>
  )
}
