import { Facts, Letter, type LetterProps, LinkPanel, marks, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'newDevice'> {
  /** One sign-in, or all further ones of a day. */
  tells: 'one' | 'many'
  /** False for an address that was never verified: a stranger may read it. */
  hasDetails: boolean
  hasPassword: boolean
  hasLink: boolean
  /** How many sign-ins it tells of. */
  count: Slot
  /** Such as “20 November 2026 at 09:00 UTC”; of many the first and the last. */
  signedInAt: Slot
  /** Such as “Firefox on Linux”; of many with their IP addresses. */
  device: Slot
  ipAddress: Slot
  notMeUrl: Slot
  notMeUntil: Slot
}

export default function NewDevice(props: Props) {
  const { look, t, userName, tells, hasDetails, hasPassword, hasLink, signedInAt, device, ipAddress } = props
  const isOne = tells === 'one'
  return (
    <Letter look={look} t={t} userName={userName} title={t(isOne ? 'title' : 'titleMany')}>
      <Paragraph>{isOne ? t('intro') : t('introMany', { count: props.count })}</Paragraph>
      <Facts
        facts={[
          [look.t('date'), signedInAt],
          ...(hasDetails ? [[look.t('device'), device] as [string, Slot]] : []),
          ...(hasDetails && isOne ? [[look.t('ipAddress'), ipAddress] as [string, Slot]] : []),
        ]}
      />
      {hasLink ? (
        <>
          <Paragraph>{t.rich(hasPassword ? 'notYou' : 'notYouWithoutPassword', marks(look))}</Paragraph>
          <LinkPanel look={look} href={props.notMeUrl} label={t('button')} />
          <Paragraph>{t.rich('linkEnds', { ...marks(look), until: props.notMeUntil })}</Paragraph>
        </>
      ) : (
        <Paragraph>{t.rich('notYouSupport', marks(look))}</Paragraph>
      )}
    </Letter>
  )
}

NewDevice.PreviewProps = preview('newDevice', NewDevice, {
  tells: 'one',
  hasDetails: true,
  hasPassword: true,
  hasLink: true,
  count: '1',
  signedInAt: '20 November 2026 at 09:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '203.0.113.7',
  notMeUrl: 'https://accounts.example.com/not-me#…',
  notMeUntil: '27 November 2026 at 09:00 UTC',
})
