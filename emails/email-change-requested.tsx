import { Divider, Facts, FinePrint, Layout, Paragraph, TextLink } from './layout'

interface Props {
  userName: string
  newEmailMasked: string
  /** For people to read, in UTC. */
  requestedAt: string
  ipAddress: string
  settingsUrl: string
  supportEmail: string
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
        Cancel change. Then write to <TextLink href={`mailto:${supportEmail}`}>{supportEmail}</TextLink>, because
        someone else knows your password.
      </Paragraph>
      <Divider />
      <FinePrint>If it was you, there is nothing to do here: open the message in your new mailbox.</FinePrint>
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
} satisfies Props
