import type { ReactNode } from 'react'
import {
  Facts,
  Letter,
  type LetterProps,
  LinkPanel,
  marks,
  type Origin,
  originFacts,
  Paragraph,
  TextLink,
} from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'withdrawalBySignIn'>, Origin {
  settingsUrl: Slot
  heldUntil: Slot
  /** Whether the person cannot delete the account before that time. */
  isHeld: boolean
  linkFrom: Slot
  /** Whether no link is mailed before that time, because the address was changed. */
  wasChanged: boolean
}

/** The answer to a request for a deletion link where a mailbox alone may not delete the account. */
export default function WithdrawalBySignIn(props: Props) {
  const { settingsUrl, heldUntil, isHeld, linkFrom, wasChanged, ...letter } = props
  const { look, t } = letter
  const link = (url: ReactNode) => (
    <TextLink look={look} href={settingsUrl}>
      {url}
    </TextLink>
  )
  return (
    <Letter {...letter} {...(isHeld && { title: t('titleHeld'), preview: t('previewHeld') })}>
      <Paragraph>
        {isHeld
          ? t.rich('held', { ...marks(look), heldUntil, settingsUrl, link })
          : wasChanged
            ? t.rich('introChanged', { ...marks(look), linkFrom })
            : t('intro')}
      </Paragraph>
      {!isHeld && <LinkPanel look={look} href={settingsUrl} label={t('button')} />}
      <Facts facts={originFacts(look, letter, 'requestedAt')} />
    </Letter>
  )
}

WithdrawalBySignIn.PreviewProps = preview('withdrawalBySignIn', WithdrawalBySignIn, {
  settingsUrl: 'https://accounts.example.com/settings',
  ...ORIGIN,
  heldUntil: '27 November 2026 at 09:00 UTC',
  isHeld: false,
  linkFrom: '27 November 2026 at 09:00 UTC',
  wasChanged: true,
})
