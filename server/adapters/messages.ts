import { createElement, type ReactElement, type ReactNode } from 'react'
import { render, toPlainText } from 'react-email'
import type { Message } from '@/domain/ports'
import AccountWithdrawalStarted from '@/emails/account-withdrawal-started'
import EmailChangeRequested from '@/emails/email-change-requested'
import EmailChanged from '@/emails/email-changed'
import type { Slot } from '@/emails/slot'
import { validityInWords } from '@/emails/validity'
import VerifyNewEmail from '@/emails/verify-new-email'
import type { Env } from '../env'

interface Rendered {
  subject: string
  html: string
  text: string
}

/** Literal text at even indexes, the name of a value at odd ones. */
interface Form {
  html: string[]
  text: string[]
}

type Settings = Pick<Env, 'supportEmail' | 'appUrl'>

/** The texts of a template's slots. */
type Values<Props> = { [Name in keyof Props as Props[Name] extends Slot ? Name : never]: string }
/** What a template may branch on. Each choice has a rendered form of its own, so free text and numbers are not allowed. */
type Choices<Props> = {
  [Name in keyof Props as Props[Name] extends Slot ? never : Name]: string extends Props[Name]
    ? never
    : number extends Props[Name]
      ? never
      : Props[Name]
}

interface Content {
  subject: string
  values: Record<string, string>
  choices: Record<string, unknown>
  /** The template with these texts, or marks, in its slots. */
  toElement(texts: Record<string, string>): ReactElement
}

const forms = new Map<string, Promise<Form>>()

/** Renders each form once and then fills it in, because rendering costs more than everything else that a message needs. */
export async function renderMessage(message: Message, settings: Settings): Promise<Rendered> {
  const { subject, values, choices, toElement } = toContent(message, settings)
  const key = `${message.template} ${JSON.stringify(choices)}`
  const marks = Object.fromEntries(Object.keys(values).map((name) => [name, mark(name)]))
  const form =
    forms.get(key) ??
    renderForm(toElement(marks)).catch((error) => {
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

// Characters of the private use area, which no template contains. The values are not searched for marks.
const mark = (name: string) => `\uE000${name}\uE001`
const MARK = /\uE000(\w+)\uE001/

const fill = (form: string[], values: Content['values'], as: (value: string) => string) =>
  form.map((part, index) => (index % 2 === 0 ? part : as(values[part] as string))).join('')

const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }
const escapeHtml = (value: string) => value.replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? '')
const collapseSpace = (value: string) => value.replaceAll(/[ \t\r\n\f\u200B]+/g, ' ')

export function toContent(message: Message, { supportEmail, appUrl }: Settings): Content {
  const userName = displayName(message.userName)
  switch (message.template) {
    case 'verify-new-email': {
      const { currentEmail, newEmail, code, link, validMs, firstMethod } = message
      const validity = validityInWords(validMs)
      return content(
        VerifyNewEmail,
        { userName, currentEmail, newEmail, code, link, validity, supportEmail },
        { firstMethod },
      )
    }
    case 'email-changed': {
      const { oldEmail, newEmail, changedAt, ipAddress } = message
      const values = { userName, oldEmail, newEmail, changedAt: formatUtc(changedAt), ipAddress, supportEmail }
      return content(EmailChanged, values, {})
    }
    case 'email-change-requested': {
      const { newEmailMasked, requestedAt, ipAddress } = message
      const settingsUrl = `${appUrl}/settings/email`
      return content(
        EmailChangeRequested,
        { userName, newEmailMasked, requestedAt: formatUtc(requestedAt), ipAddress, settingsUrl, supportEmail },
        {},
      )
    }
    case 'account-withdrawal-started': {
      const { progressUrl } = message
      const scheduledCompletion = formatUtc(message.scheduledCompletion)
      const retentionDays = String(message.retentionDays)
      return content(
        AccountWithdrawalStarted,
        { userName, progressUrl, scheduledCompletion, retentionDays, supportEmail },
        {},
      )
    }
  }
}

const content = <Props extends object>(
  template: ((props: Props) => ReactNode) & { subject: string },
  values: Values<Props>,
  choices: Choices<Props>,
): Content => ({
  subject: template.subject,
  values,
  choices,
  // Only here does a text become a slot.
  toElement: (texts) => createElement(template, { ...texts, ...choices } as unknown as Props),
})

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
const formatUtc = (date: Date) => `${utc.format(date)} UTC`

/** Cuts a long name, so that it cannot push the message out of sight. */
function displayName(name: string): string {
  const characters = Array.from(name.trim())
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : characters.join('')
}
