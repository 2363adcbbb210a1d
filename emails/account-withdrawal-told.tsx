import { preview } from './preview'
import { WithdrawalLetter, type WithdrawalLetterProps } from './withdrawal-letter'

export default function AccountWithdrawalTold(letter: WithdrawalLetterProps<'accountWithdrawalTold'>) {
  return <WithdrawalLetter {...letter} />
}

AccountWithdrawalTold.PreviewProps = preview('accountWithdrawalTold', AccountWithdrawalTold, {
  requestedBy: 'support',
  requestedAt: '20 November 2026 at 09:00:12 UTC',
  requestedHow: 'By our support team, on your behalf.',
  doneBy: '21 November 2026 at 09:00 UTC',
  retention: '30 days',
  keptUntil: '20 December 2026 at 09:00 UTC',
  keptChosen: '',
  keepsMore: false,
  authority: '',
  authorityUrl: '',
  hasAuthority: false,
})
