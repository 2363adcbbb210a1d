import { Facts, Layout, Paragraph, SupportLink, TextLink } from './layout'
import type { Filled, Slot } from './slot'

interface Props {
  userName: Slot
  /** The fragment holds the status token. */
  progressUrl: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  scheduledCompletion: Slot
  retentionDays: Slot
  supportEmail: Slot
}

export default function AccountWithdrawalStarted({
  userName,
  progressUrl,
  scheduledCompletion,
  retentionDays,
  supportEmail,
}: Props) {
  return (
    <Layout
      preview="Follow the deletion to its end."
      title="Your account is being deleted"
      reason="You get this message because the deletion of your account was asked for. The address is deleted with it."
      footnote={
        <>
          If you did not ask for this, write to <SupportLink address={supportEmail} /> at once.
        </>
      }
    >
      <Paragraph>Hello {userName},</Paragraph>
      <Paragraph>
        You asked us to delete your account. You are signed out everywhere, and your data is being removed step by step.
        This cannot be undone.
      </Paragraph>
      <Facts
        facts={[
          ['Done by', scheduledCompletion],
          ['Kept for the law', `${retentionDays} days, without your name or address`],
        ]}
      />
      <Paragraph>
        Follow the progress here; no sign-in is needed, so keep this link to yourself:{' '}
        <TextLink href={progressUrl}>{progressUrl}</TextLink>
      </Paragraph>
    </Layout>
  )
}

AccountWithdrawalStarted.subject = 'Account Withdrawal Started'
AccountWithdrawalStarted.PreviewProps = {
  userName: 'Ada Lovelace',
  progressUrl: 'https://account.example.com/withdrawal/wd_4Qm9ZsX1cT7uYb2LhKpV0w#token=wst_example',
  scheduledCompletion: '27 November 2026 at 09:00 UTC',
  retentionDays: '30',
  supportEmail: 'support@example.com',
} satisfies Filled<Props>
