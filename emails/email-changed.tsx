import { Facts, Letter, type LetterProps, LinkPanel, marks, type Origin, originFacts, Paragraph } from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'emailChanged'>, Origin {
  oldEmail: Slot
  newEmail: Slot
  hasPassword: boolean
  /** Whether the letter has the link that undoes the change; only the letter to the old address has it. */
  canUndo: boolean
  /** The fragment holds the token. Empty without `canUndo`. */
  notMeUrl: Slot
  notMeUntil: Slot
}

export default function EmailChanged(props: Props) {
  const { look, t, userName, oldEmail, newEmail, hasPassword, notMeUntil: until } = props
  const letter = { look, t, userName }
  const facts = (
    <Facts facts={[[t('oldAddress'), oldEmail], [t('newAddress'), newEmail], ...originFacts(look, props)]} />
  )
  if (props.canUndo)
    return (
      <Letter
        {...letter}
        preview={t('previewOld', { until })}
        reason={t('reasonOld')}
        footnote={t.rich('notYouOld', marks(look))}
      >
        <Paragraph>{t(hasPassword ? 'introOld' : 'introOldWithoutPassword')}</Paragraph>
        <Paragraph>{t(hasPassword ? 'footnoteOld' : 'footnote')}</Paragraph>
        <Paragraph>{t.rich(hasPassword ? 'undoOld' : 'undoOldWithoutPassword', { ...marks(look), until })}</Paragraph>
        <LinkPanel look={look} href={props.notMeUrl} label={t('button')} />
        {facts}
      </Letter>
    )
  return (
    <Letter {...letter} preview={t('preview', { newEmail })}>
      <Paragraph>{t(hasPassword ? 'intro' : 'introWithoutPassword')}</Paragraph>
      {facts}
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
    </Letter>
  )
}

EmailChanged.PreviewProps = preview('emailChanged', EmailChanged, {
  oldEmail: 'ada@example.com',
  newEmail: 'ada@example.org',
  ...ORIGIN,
  hasPassword: true,
  canUndo: true,
  notMeUrl: 'https://accounts.example.com/not-me#…',
  notMeUntil: '21 November 2026 at 09:00 UTC',
})
