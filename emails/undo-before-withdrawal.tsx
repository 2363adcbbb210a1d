import { Facts, Letter, type LetterProps, LinkPanel, marks, Paragraph } from './layout'
import type { Slot } from './slot'

interface Props extends LetterProps<'undoBeforeWithdrawal'> {
  /** The fragment holds the token. */
  notMeUrl: Slot
  notMeUntil: Slot
  ipAddress: Slot
}

/** The answer to a request for a deletion link, to an address that can still undo a change. */
export default function UndoBeforeWithdrawal({ notMeUrl, notMeUntil: until, ipAddress, ...letter }: Props) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Paragraph>{t.rich('notYou', { ...marks(look), until })}</Paragraph>
      <LinkPanel look={look} href={notMeUrl} label={t('button')} />
      <Paragraph>{t('wasYou')}</Paragraph>
      <Facts facts={[[look.t('requestedFrom'), ipAddress]]} />
    </Letter>
  )
}
