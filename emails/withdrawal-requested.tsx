import { marks, Paragraph } from './layout'
import { LinkLetter, type LinkLetterProps } from './link-letter'

export default function WithdrawalRequested(props: LinkLetterProps<'withdrawalRequested'>) {
  const { look, t } = props
  return (
    <LinkLetter {...props}>
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
    </LinkLetter>
  )
}
