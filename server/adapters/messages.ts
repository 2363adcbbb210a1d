import { createElement, type ReactElement } from 'react'
import { render, toPlainText } from 'react-email'
import type { Message } from '@/domain/ports'
import AccountWithdrawalStarted from '@/emails/account-withdrawal-started'
import EmailChangeRequested from '@/emails/email-change-requested'
import EmailChanged from '@/emails/email-changed'
import { validityInWords } from '@/emails/validity'
import VerifyNewEmail from '@/emails/verify-new-email'
import type { Env } from '../env'

interface Rendered {
  subject: string
  html: string
  text: string
}

/** Literal text at even places, the name of a value at odd ones. */
interface Form {
  html: string[]
  text: string[]
}

interface Content {
  subject: string
  /** Tells apart what differs in more than its values. */
  shape: string
  values: Record<string, string>
  /** The form, with a mark in the place of each value. */
  toMarked(): ReactElement
}

const forms = new Map<string, Promise<Form>>()

/** A form is rendered once: that costs more than all else that is done for a message. */
export async function renderMessage(
  message: Message,
  settings: Pick<Env, 'supportEmail' | 'appUrl'>,
): Promise<Rendered> {
  const { subject, shape, values, toMarked } = toContent(message, settings)
  const key = `${message.template} ${shape}`
  const form =
    forms.get(key) ??
    renderForm(toMarked()).catch((error) => {
      forms.delete(key)
      throw error
    })
  forms.set(key, form)
  const { html, text } = await form
  return { subject, html: fill(html, values, escapeHtml), text: fill(text, values, collapseSpace) }
}

async function renderForm(marked: ReactElement): Promise<Form> {
  const html = await render(marked)
  return { html: html.split(MARK), text: toPlainText(html).split(MARK) }
}

// Private use: no template holds them. What a value holds is never looked at.
const mark = (name: string) => `\uE000${name}\uE001`
const MARK = /\uE000(\w+)\uE001/

const fill = (form: string[], values: Content['values'], as: (value: string) => string) =>
  form.map((part, index) => (index % 2 === 0 ? part : as(values[part] as string))).join('')

const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }
const escapeHtml = (value: string) => value.replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? '')
const collapseSpace = (value: string) => value.replaceAll(/[ \t\r\n\f\u200B]+/g, ' ')

function toContent(message: Message, { supportEmail, appUrl }: Pick<Env, 'supportEmail' | 'appUrl'>): Content {
  const userName = displayName(message.userName)
  switch (message.template) {
    case 'verify-new-email': {
      const { currentEmail, newEmail, code, link, validMs, firstMethod } = message
      const validity = validityInWords(validMs)
      const values = { userName, currentEmail, newEmail, code, link, validity, supportEmail }
      return content(VerifyNewEmail.subject, values, firstMethod, (marks) =>
        createElement(VerifyNewEmail, { ...marks, firstMethod }),
      )
    }
    case 'email-changed': {
      const { oldEmail, newEmail, changedAt, ipAddress } = message
      const values = { userName, oldEmail, newEmail, changedAt: formatUtc(changedAt), ipAddress, supportEmail }
      return content(EmailChanged.subject, values, '', (marks) => createElement(EmailChanged, marks))
    }
    case 'email-change-requested': {
      const { newEmailMasked, requestedAt, ipAddress } = message
      const values = {
        userName,
        newEmailMasked,
        requestedAt: formatUtc(requestedAt),
        ipAddress,
        settingsUrl: `${appUrl}/settings/email`,
        supportEmail,
      }
      return content(EmailChangeRequested.subject, values, '', (marks) => createElement(EmailChangeRequested, marks))
    }
    case 'account-withdrawal-started': {
      const { progressUrl, scheduledCompletion, retentionDays } = message
      const values = {
        userName,
        progressUrl,
        scheduledCompletion: formatUtc(scheduledCompletion),
        retentionDays: String(retentionDays),
        supportEmail,
      }
      return content(AccountWithdrawalStarted.subject, values, '', (marks) =>
        createElement(AccountWithdrawalStarted, marks),
      )
    }
  }
}

const content = <Values extends Record<string, string>>(
  subject: string,
  values: Values,
  shape: string,
  toElement: (marks: Values) => ReactElement,
): Content => ({
  subject,
  shape,
  values,
  toMarked: () => toElement(Object.fromEntries(Object.keys(values).map((name) => [name, mark(name)])) as Values),
})

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
const formatUtc = (date: Date) => `${utc.format(date)} UTC`

/** A name is whatever a person typed: long enough to know it by, never long enough to push the message out of sight. */
function displayName(name: string): string {
  const characters = Array.from(name.trim())
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : characters.join('')
}
