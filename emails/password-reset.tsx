import type { LetterTexts } from './letter-texts'
import { LinkLetter, type LinkLetterProps } from './link-letter'

export default function PasswordReset(props: LinkLetterProps<LetterTexts<'passwordReset'>>) {
  return <LinkLetter {...props} />
}
