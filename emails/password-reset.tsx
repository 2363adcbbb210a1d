import { LinkLetter, type LinkLetterProps } from './link-letter'

export default function PasswordReset(props: LinkLetterProps<'passwordReset'>) {
  return <LinkLetter {...props} />
}
