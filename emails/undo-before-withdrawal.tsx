import { Facts, Letter, type LetterProps, LinkPanel, marks, type Origin, originFacts, Paragraph } from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'undoBeforeWithdrawal'>, Origin {
  /** Until when the account used this address. */
  changedAt: Slot
  notMeUrl: Slot
  notMeUntil: Slot
}

/** The answer to a request for a deletion link, to an address that can still undo a change. */
export default function UndoBeforeWithdrawal(props: Props) {
  const { look, t, userName, changedAt, notMeUrl, notMeUntil: until } = props
  return (
    <Letter look={look} t={t} userName={userName}>
      <Paragraph>{t('intro', { changedAt })}</Paragraph>
      <Paragraph>{t.rich('notYou', { ...marks(look), until })}</Paragraph>
      <LinkPanel look={look} href={notMeUrl} label={t('button')} />
      <Paragraph>{t('wasYou')}</Paragraph>
      <Facts facts={originFacts(look, props, 'requestedAt')} />
    </Letter>
  )
}

UndoBeforeWithdrawal.PreviewProps = preview('undoBeforeWithdrawal', UndoBeforeWithdrawal, {
  changedAt: '20 November 2026 at 08:40 UTC',
  notMeUrl: 'https://accounts.example.com/not-me#…',
  notMeUntil: '27 November 2026 at 08:40 UTC',
  ...ORIGIN,
})
