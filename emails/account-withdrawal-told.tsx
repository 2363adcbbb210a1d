import { marks, Paragraph } from './layout'
import { WithdrawalLetter, type WithdrawalLetterProps } from './withdrawal-letter'

export default function AccountWithdrawalTold(letter: WithdrawalLetterProps<'accountWithdrawalTold'>) {
  const { look, t } = letter
  return (
    <WithdrawalLetter {...letter}>
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
    </WithdrawalLetter>
  )
}
