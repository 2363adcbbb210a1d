import { Divider, Facts, FinePrint, Layout, Paragraph, TextLink } from './layout'

interface Props {
  userName: string
  oldEmail: string
  newEmail: string
  /** For people to read, in UTC. */
  changedAt: string
  ipAddress: string
  supportEmail: string
}

export default function EmailChanged({ userName, oldEmail, newEmail, changedAt, ipAddress, supportEmail }: Props) {
  return (
    <Layout
      preview={`Your account now uses ${newEmail}. If this was not you, contact support.`}
      title="Your email address was changed"
      reason="We send this to the old and the new address, so that no change goes unseen."
    >
      <Paragraph>Hello {userName},</Paragraph>
      <Paragraph>The email address of your account was changed. Sign in with the new one from now on.</Paragraph>
      <Facts
        facts={[
          ['Old address', oldEmail],
          ['New address', newEmail],
          ['Date', changedAt],
          ['IP address', ipAddress],
        ]}
      />
      <Paragraph>
        <strong>If you did not make this change</strong>, contact support at once at{' '}
        <TextLink href={`mailto:${supportEmail}`}>{supportEmail}</TextLink>.
      </Paragraph>
      <Divider />
      <FinePrint>If it was you, there is nothing to do.</FinePrint>
    </Layout>
  )
}

EmailChanged.subject = 'Email Address Changed'
EmailChanged.PreviewProps = {
  userName: 'Ada Lovelace',
  oldEmail: 'ada@example.com',
  newEmail: 'ada.new@example.com',
  changedAt: '20 November 2026 at 09:12 UTC',
  ipAddress: '203.0.113.7',
  supportEmail: 'support@example.com',
} satisfies Props
