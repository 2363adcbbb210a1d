import { LinkPanel, Paragraph, TextLink } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'
import { WithdrawalLetter, type WithdrawalLetterProps } from './withdrawal-letter'

interface Props extends WithdrawalLetterProps<'accountWithdrawalStarted'> {
  /** The fragment holds the status token. */
  progressUrl: Slot
  /** Whether the letter carries the receipt, and where anyone can check it. */
  hasReceipt: boolean
  checkUrl: Slot
}

export default function AccountWithdrawalStarted({ progressUrl, hasReceipt, checkUrl, ...letter }: Props) {
  const { look, t, doneBy, keptUntil } = letter
  return (
    <WithdrawalLetter
      {...letter}
      preview={t('preview', { doneBy })}
      action={
        <>
          <Paragraph>{t('follow', { keptUntil })}</Paragraph>
          <LinkPanel look={look} href={progressUrl} label={t('button')} />
          <Paragraph>
            {hasReceipt
              ? t.rich('receipt', {
                  checkUrl,
                  check: () => (
                    <TextLink look={look} href={checkUrl}>
                      {checkUrl}
                    </TextLink>
                  ),
                })
              : t('noReceipt')}
          </Paragraph>
        </>
      }
    />
  )
}

AccountWithdrawalStarted.PreviewProps = preview('accountWithdrawalStarted', AccountWithdrawalStarted, {
  progressUrl: 'https://accounts.example.com/withdrawal#wst_…',
  hasReceipt: true,
  checkUrl: 'https://accounts.example.com/receipt',
  requestedBy: 'person',
  requestedAt: '20 November 2026 at 09:00:12 UTC',
  requestedHow: 'On the settings pages, by someone signed in to the account.',
  doneBy: '21 November 2026 at 09:00 UTC',
  retention: '30 days',
  keptUntil: '20 December 2026 at 09:00 UTC',
  keptChosen: 'Usage statistics',
  keepsMore: true,
  authority: 'Data Protection Commission',
  authorityUrl: 'https://authority.example.com/complain',
  hasAuthority: true,
})
