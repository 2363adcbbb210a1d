import { ActLetter } from './act-letter'
import { type LetterProps, type Origin, originFacts } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'dataExported'>, Origin {
  settingsUrl: Slot
  hasPassword: boolean
}

export default function DataExported({ at, device, ipAddress, settingsUrl, ...letter }: Props) {
  return <ActLetter {...letter} facts={originFacts(letter.look, { at, device, ipAddress })} url={settingsUrl} />
}

DataExported.PreviewProps = preview('dataExported', DataExported, {
  at: '20 November 2026 at 09:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '203.0.113.7',
  settingsUrl: 'https://accounts.example.com/settings',
  hasPassword: true,
})
