import { createElement, type ReactElement } from 'react'
import { render, toPlainText } from 'react-email'
import type { Message } from '@/domain/context'
import AccountWithdrawalStarted from '@/emails/account-withdrawal-started'
import EmailChangeRequested from '@/emails/email-change-requested'
import EmailChanged from '@/emails/email-changed'
import VerifyNewEmail from '@/emails/verify-new-email'
import type { Env } from './env'

interface Rendered {
  subject: string
  html: string
  text: string
}

type Settings = Pick<Env, 'supportEmail' | 'appUrl'>

const rendered = new WeakMap<Message, Promise<Rendered>>()

/** Rendering costs more than all else that is done for a message, so that what goes to two addresses is rendered once. */
export function renderMessage(message: Message, settings: Settings): Promise<Rendered> {
  const known = rendered.get(message) ?? renderNow(message, settings)
  rendered.set(message, known)
  return known
}

async function renderNow(message: Message, { supportEmail, appUrl }: Settings): Promise<Rendered> {
  const { subject, element } = toElement(message, supportEmail, appUrl)
  const html = await render(element)
  return { subject, html, text: toPlainText(html) }
}

function toElement(message: Message, supportEmail: string, appUrl: string): { subject: string; element: ReactElement } {
  switch (message.template) {
    case 'verify-new-email':
      return { subject: VerifyNewEmail.subject, element: createElement(VerifyNewEmail, { ...message, supportEmail }) }
    case 'email-changed':
      return {
        subject: EmailChanged.subject,
        element: createElement(EmailChanged, { ...message, changedAt: formatUtc(message.changedAt), supportEmail }),
      }
    case 'email-change-requested':
      return {
        subject: EmailChangeRequested.subject,
        element: createElement(EmailChangeRequested, {
          ...message,
          requestedAt: formatUtc(message.requestedAt),
          settingsUrl: `${appUrl}/settings/email`,
          supportEmail,
        }),
      }
    case 'account-withdrawal-started':
      return {
        subject: AccountWithdrawalStarted.subject,
        element: createElement(AccountWithdrawalStarted, {
          ...message,
          scheduledCompletion: formatUtc(message.scheduledCompletion),
          supportEmail,
        }),
      }
  }
}

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
const formatUtc = (date: Date) => `${utc.format(date)} UTC`
