import { CodePanel, Layout, LinkPanel, Paragraph, SupportLink } from './layout'
import type { Filled, Slot } from './slot'

interface Props {
  userName: Slot
  /** Masked, because the reader may not be the owner of the account. */
  currentEmail: Slot
  newEmail: Slot
  code: Slot
  link: Slot
  /** Such as “12 hours”. */
  validity: Slot
  firstMethod: 'email_code' | 'email_link'
  supportEmail: Slot
}

export default function VerifyNewEmail({
  userName,
  currentEmail,
  newEmail,
  code,
  link,
  validity,
  firstMethod,
  supportEmail,
}: Props) {
  const codePanel = <CodePanel key="code" code={code} />
  const linkPanel = <LinkPanel key="link" href={link} label="Verify my new address" />
  return (
    <Layout
      preview={`Confirm ${newEmail} for the account of ${userName}.`}
      title="Verify your new email address"
      reason={`You get this message because ${newEmail} was given as the new address of an account.`}
      footnote={
        <>
          Did you not ask for this? Then ignore this message: without the code and the password of that account nothing
          changes. Give the code to nobody; we never ask for it. Questions: <SupportLink address={supportEmail} />
        </>
      }
    >
      <Paragraph>Hello {userName},</Paragraph>
      <Paragraph>
        You asked to change the email address of your account ({currentEmail}) to {newEmail}.{' '}
        {firstMethod === 'email_code'
          ? 'Enter this code on the settings page, or use the link below it:'
          : 'Open this link, or enter the code below it on the settings page:'}
      </Paragraph>
      {firstMethod === 'email_code' ? [codePanel, linkPanel] : [linkPanel, codePanel]}
      <Paragraph>
        The code expires in {validity}, and so does the link. Until you use one of them, your current address stays in
        effect.
      </Paragraph>
    </Layout>
  )
}

VerifyNewEmail.subject = 'Verify Your New Email Address'
VerifyNewEmail.PreviewProps = {
  userName: 'Ada Lovelace',
  currentEmail: 'a••••@example.com',
  newEmail: 'ada.new@example.com',
  code: '042137',
  link: 'https://account.example.com/verify-email#request=ecr_7Yc1fVn0Qk2mXh3rTzB8dA&code=042137',
  validity: '12 hours',
  firstMethod: 'email_code',
  supportEmail: 'support@example.com',
} satisfies Filled<Props>
