import { LinkLetter, type LinkLetterProps } from './link-letter'
import { ORIGIN, preview } from './preview'

export default function PasswordReset(props: LinkLetterProps<'passwordReset'>) {
  return <LinkLetter {...props} />
}

PasswordReset.PreviewProps = preview('passwordReset', PasswordReset, {
  link: 'https://accounts.example.com/reset-password#…',
  endsAt: '20 November 2026 at 09:30 UTC',
  validity: '30 minutes',
  ...ORIGIN,
})
