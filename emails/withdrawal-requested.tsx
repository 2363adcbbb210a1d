import { marks, Paragraph } from './layout'
import { LinkLetter, type LinkLetterProps } from './link-letter'
import { ORIGIN, preview } from './preview'

export default function WithdrawalRequested(props: LinkLetterProps<'withdrawalRequested'>) {
  const { look, t } = props
  return (
    <LinkLetter {...props}>
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
    </LinkLetter>
  )
}

WithdrawalRequested.PreviewProps = preview('withdrawalRequested', WithdrawalRequested, {
  link: 'https://accounts.example.com/delete-account#…',
  endsAt: '20 November 2026 at 09:30 UTC',
  validity: '30 minutes',
  ...ORIGIN,
})
