import { marks, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import { LinkLetter, type LinkLetterProps } from './link-letter'

export default function WithdrawalRequested(props: LinkLetterProps<LetterTexts<'withdrawalRequested'>>) {
  const { look, t } = props
  return (
    <LinkLetter {...props}>
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
    </LinkLetter>
  )
}
