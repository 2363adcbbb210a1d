import { Fragment } from 'react'
import { CodePanel, FinePrint, Letter, type LetterProps, LinkPanel, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'verifyNewEmail'> {
  /** Masked, because the reader may not be the owner of the account. */
  currentEmail: Slot
  newEmail: Slot
  code: Slot
  link: Slot
  validity: Slot
  until: Slot
  firstMethod: 'email_code' | 'email_link'
  /** The account's own address is verified; nothing is changed. */
  isOwn: boolean
}

export default function VerifyNewEmail(props: Props) {
  const { look, t, userName, currentEmail, newEmail, code, link, validity, until, firstMethod, isOwn } = props
  const codePanel = <CodePanel key="code" look={look} code={code} />
  const linkPanel = (
    <Fragment key="link">
      <LinkPanel look={look} href={link} label={t(isOwn ? 'buttonOwn' : 'button')} />
      <FinePrint>{t('elsewhere')}</FinePrint>
    </Fragment>
  )
  return (
    <Letter
      {...{ look, t, userName }}
      preview={t('preview', { code, newEmail, userName: look.isNamed ? userName : currentEmail })}
      title={t(isOwn ? 'titleOwn' : 'title')}
      reason={t(isOwn ? 'reasonOwn' : 'reason', { newEmail })}
    >
      <Paragraph>{isOwn ? t('introOwn', { newEmail }) : t('intro', { currentEmail, newEmail })}</Paragraph>
      <Paragraph>{t(firstMethod === 'email_code' ? 'codeFirst' : 'linkFirst')}</Paragraph>
      {firstMethod === 'email_code' ? [codePanel, linkPanel] : [linkPanel, codePanel]}
      <Paragraph>{t(isOwn ? 'expiresOwn' : 'expires', { validity, until })}</Paragraph>
    </Letter>
  )
}

VerifyNewEmail.PreviewProps = preview('verifyNewEmail', VerifyNewEmail, {
  currentEmail: 'a•••@example.com',
  newEmail: 'ada@example.org',
  code: '402913',
  link: 'https://accounts.example.com/verify-email#…',
  validity: '12 hours',
  until: '20 November 2026 at 21:00 UTC',
  firstMethod: 'email_code',
  isOwn: false,
})
