import { Facts, Letter, type LetterProps, LinkPanel, marks, type Origin, originFacts, Paragraph } from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'emailChangeRequested'>, Origin {
  /** Not masked, because the letter goes there, and masked it could look like the new one. */
  currentEmail: Slot
  newEmailMasked: Slot
  /** Masked, the new address looks like the current one. */
  isAlike: boolean
  hasPassword: boolean
  notMeUrl: Slot
  notMeUntil: Slot
}

export default function EmailChangeRequested(props: Props) {
  const { look, t, userName, currentEmail, newEmailMasked, hasPassword } = props
  return (
    <Letter
      look={look}
      t={t}
      userName={userName}
      footnote={t.rich('linkEnds', { ...marks(look), until: props.notMeUntil })}
    >
      <Paragraph>{t(hasPassword ? 'intro' : 'introWithoutPassword')}</Paragraph>
      <Paragraph>{t('footnote')}</Paragraph>
      <Paragraph>{t.rich(hasPassword ? 'notYou' : 'notYouWithoutPassword', marks(look))}</Paragraph>
      <LinkPanel look={look} href={props.notMeUrl} label={t('button')} />
      <Facts
        facts={[
          [look.t('currentAddress'), currentEmail],
          [t('requestedAddress'), props.isAlike ? t('otherAddress', { address: newEmailMasked }) : newEmailMasked],
          ...originFacts(look, props),
        ]}
      />
    </Letter>
  )
}

EmailChangeRequested.PreviewProps = preview('emailChangeRequested', EmailChangeRequested, {
  currentEmail: 'ada@example.com',
  newEmailMasked: 'a•••@example.org',
  isAlike: false,
  ...ORIGIN,
  hasPassword: true,
  notMeUrl: 'https://accounts.example.com/not-me#…',
  notMeUntil: '21 November 2026 at 09:00 UTC',
})
