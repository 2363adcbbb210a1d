import { ActLetter } from './act-letter'
import { type LetterProps, type Origin, originFacts } from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'dataExported'>, Origin {
  settingsUrl: Slot
  hasPassword: boolean
}

export default function DataExported({ settingsUrl, ...letter }: Props) {
  return <ActLetter {...letter} facts={originFacts(letter.look, letter)} url={settingsUrl} />
}

DataExported.PreviewProps = preview('dataExported', DataExported, {
  ...ORIGIN,
  settingsUrl: 'https://accounts.example.com/settings',
  hasPassword: true,
})
