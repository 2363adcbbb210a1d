import { LinkPanel, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'
import { WithdrawalLetter, type WithdrawalLetterProps } from './withdrawal-letter'

interface Props extends WithdrawalLetterProps<'accountWithdrawalStarted'> {
  /** The fragment holds the status token. */
  progressUrl: Slot
}

export default function AccountWithdrawalStarted({ progressUrl, ...letter }: Props) {
  const { look, t, doneBy } = letter
  return (
    <WithdrawalLetter {...letter} preview={t('preview', { doneBy })}>
      <Paragraph>{t('follow')}</Paragraph>
      <LinkPanel look={look} href={progressUrl} label={t('button')} />
    </WithdrawalLetter>
  )
}

AccountWithdrawalStarted.PreviewProps = preview('accountWithdrawalStarted', AccountWithdrawalStarted, {
  progressUrl: 'https://accounts.example.com/withdrawal#wst_…',
  askedBy: 'person',
  doneBy: '21 November 2026 at 09:00 UTC',
  retention: '30 days',
})
