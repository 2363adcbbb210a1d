import { Facts, Layout, Paragraph, SupportLink, TextLink } from './layout'
import type { Filled, Slot } from './slot'

interface Props {
  userName: Slot
  newEmailMasked: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  requestedAt: Slot
  ipAddress: Slot
  settingsUrl: Slot
  supportEmail: Slot
}

export default function EmailChangeRequested({
  userName,
  newEmailMasked,
  requestedAt,
  ipAddress,
  settingsUrl,
  supportEmail,
}: Props) {
  return (
    <Layout
      preview="Nothing has changed yet. If this was not you, cancel it now."
      title="A change of your email address was requested"
      reason="We send this to the current address, so that no request goes unseen."
      footnote="If it was you, there is nothing to do here: open the message in your new mailbox."
    >
      <Paragraph>Hello {userName},</Paragraph>
      <Paragraph>
        Someone who knows your password asked to change the email address of your account. Nothing has changed yet: this
        address stays in effect until the new one is verified.
      </Paragraph>
      <Facts
        facts={[
          ['Requested address', newEmailMasked],
          ['Date', requestedAt],
          ['IP address', ipAddress],
        ]}
      />
      <Paragraph>
        <strong>If it was not you</strong>, sign in at <TextLink href={settingsUrl}>{settingsUrl}</TextLink> and choose
        Cancel change. Then write to <SupportLink address={supportEmail} />, because someone else knows your password.
      </Paragraph>
    </Layout>
  )
}

EmailChangeRequested.subject = 'Email Change Requested'
EmailChangeRequested.PreviewProps = {
  userName: 'Ada Lovelace',
  newEmailMasked: 'a••••@example.com',
  requestedAt: '20 November 2026 at 09:00 UTC',
  ipAddress: '203.0.113.7',
  settingsUrl: 'https://account.example.com/settings/email',
  supportEmail: 'support@example.com',
} satisfies Filled<Props>
