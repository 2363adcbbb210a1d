import { Facts, Layout, Paragraph, SupportLink } from './layout'
import type { Filled, Slot } from './slot'

interface Props {
  userName: Slot
  oldEmail: Slot
  newEmail: Slot
  /** Such as “20 November 2026 at 09:00 UTC”. */
  changedAt: Slot
  ipAddress: Slot
  supportEmail: Slot
}

export default function EmailChanged({ userName, oldEmail, newEmail, changedAt, ipAddress, supportEmail }: Props) {
  return (
    <Layout
      preview={`Your account now uses ${newEmail}. If this was not you, contact support.`}
      title="Your email address was changed"
      reason="We send this to the old and the new address, so that no change goes unseen."
      footnote="If it was you, there is nothing to do."
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
        <SupportLink address={supportEmail} />.
      </Paragraph>
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
} satisfies Filled<Props>
