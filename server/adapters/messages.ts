import { createElement, type ReactElement, type ReactNode } from 'react'
import { render, toPlainText } from 'react-email'
import { createTranslator } from 'use-intl/core'
import { dateTag, type Language, languageFor } from '@/contract/languages'
import type { Message } from '@/domain/ports'
import AccountWithdrawalStarted from '@/emails/account-withdrawal-started'
import AccountWithdrawalTold from '@/emails/account-withdrawal-told'
import DataExported from '@/emails/data-exported'
import EmailChangeRequested from '@/emails/email-change-requested'
import EmailChanged from '@/emails/email-changed'
import EmailReverted from '@/emails/email-reverted'
import type { Look } from '@/emails/layout'
import type { LetterTexts } from '@/emails/letter-texts'
import NoPasswordToReset from '@/emails/no-password-to-reset'
import PasswordChanged from '@/emails/password-changed'
import PasswordReset from '@/emails/password-reset'
import type { Slot } from '@/emails/slot'
import VerifyNewEmail from '@/emails/verify-new-email'
import WithdrawalBySignIn from '@/emails/withdrawal-by-sign-in'
import WithdrawalRequested from '@/emails/withdrawal-requested'
import { accentInTheDark } from '../settings/accent'
import type { Env } from '../settings/env'
import { daysInWords, validityInWords } from '../texts/duration-words'
import { type Catalogue, catalogueOf } from '../texts/texts'

interface Rendered {
  subject: string
  html: string
  text: string
}

/** Literal text at even indexes, the name of a value at odd ones. */
interface Form {
  subject: string
  html: string[]
  text: string[]
}

export type MessageSettings = Pick<Env, 'supportEmail' | 'appUrl' | 'hasPasswordSignIn' | 'brand' | 'defaultLanguage'>

type Texts = Catalogue['Mails']
/** What all mails in a language are written with. */
interface Mails {
  language: Language
  messages: Catalogue
}
/** All letters share the texts in `letter`. */
type Letter = Exclude<keyof Texts, 'letter'>
/** What every template needs beside its own properties. */
interface Given<Name extends Letter> {
  look: Look
  t: LetterTexts<Name>
}

/** The texts of a template's slots. */
type Values<Props> = { [Name in keyof Props as Props[Name] extends Slot ? Name : never]: string }
/** What a template may branch on. Each choice has a rendered form of its own, so free text and numbers are not allowed. */
type Choices<Props> = {
  [Name in Exclude<keyof Props, 'look' | 't'> as Props[Name] extends Slot ? never : Name]: string extends Props[Name]
    ? never
    : number extends Props[Name]
      ? never
      : Props[Name]
}

interface Content {
  letter: Letter
  subject: 'subject' | 'subjectOwn' | 'subjectStopped'
  values: Record<string, string>
  choices: Record<string, unknown>
  /** The template in a language. Its slots hold these texts, or marks. */
  toElement(look: Look, texts: Record<string, string>): ReactElement
}

const forms = new Map<string, Promise<Form>>()

/**
 * Renders in the account's language. Each form is rendered once and then filled in, because rendering costs more than everything
 * else that a message needs.
 */
export async function renderMessage(
  message: Message,
  locale: string | null,
  settings: MessageSettings,
): Promise<Rendered> {
  const language = languageFor(locale) ?? settings.defaultLanguage
  const mails = await mailsIn(language)
  const content = toContent(message, mails, settings)
  const { values, choices } = content
  const look = lookIn(mails, settings)
  const key = JSON.stringify([message.template, choices, look])
  const form =
    forms.get(key) ??
    renderForm(content, mails, look).catch((error) => {
      forms.delete(key)
      throw error
    })
  forms.set(key, form)
  const { subject, html, text } = await form
  return { subject, html: fill(html, values, escapeHtml), text: fill(text, values, collapseSpace) }
}

async function renderForm(
  { letter, subject: key, values, toElement }: Content,
  mails: Mails,
  look: Look,
): Promise<Form> {
  const html = await render(toElement(look, marksFor(values)))
  // Each of these letters has the text that it names.
  const subject = textsOf(mails, letter)(key as 'subject')
  return { subject, html: html.split(MARK), text: toText(html).split(MARK) }
}

/** The library would write a title in capitals. */
export const toText = (html: string) =>
  toPlainText(html, { selectors: [{ selector: 'h1', options: { uppercase: false } }] })

const textsOf = <Name extends keyof Texts>({ language, messages }: Mails, letter: Name) =>
  createTranslator({
    locale: language,
    messages,
    namespace: `Mails.${letter}` as 'Mails',
    timeZone: 'UTC',
  }) as unknown as LetterTexts<Name>

export const mailsIn = async (language: Language): Promise<Mails> => ({
  language,
  messages: await catalogueOf(language),
})

const OWN_ACCENT = { accentColor: '#1f4fc4', accentInTheDark: '#9dbdff' }

export function lookIn(mails: Mails, { brand, appUrl, supportEmail }: MessageSettings): Look {
  const { accentColor } = brand
  return {
    language: mails.language,
    product: brand.name,
    productUrl: brand.url ?? null,
    logoUrl: brand.logo ? `${appUrl}/brand/logo` : null,
    ...(accentColor ? { accentColor, accentInTheDark: accentInTheDark(accentColor) } : OWN_ACCENT),
    supportEmail,
    supportUrl: brand.supportUrl ?? null,
    t: textsOf(mails, 'letter'),
  }
}

// Characters of the private use area, which no template contains. The values are not searched for marks.
const mark = (name: string) => `\uE000${name}\uE001`
const marksFor = (values: Content['values']) =>
  Object.fromEntries(Object.keys(values).map((name) => [name, mark(name)]))
const MARK = /\uE000(\w+)\uE001/

const fill = (form: string[], values: Content['values'], as: (value: string) => string) =>
  form.map((part, index) => (index % 2 === 0 ? part : as(values[part] as string))).join('')

const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }
const escapeHtml = (value: string) => value.replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? '')
const collapseSpace = (value: string) => value.replaceAll(/[ \t\r\n\f\u200B]+/g, ' ')

export function toContent(message: Message, mails: Mails, { appUrl, hasPasswordSignIn }: MessageSettings): Content {
  const { language } = mails
  const userName = displayName(message.userName)
  const time = (date: Date) => utcIn(language, date)
  const content = <Name extends Letter, Props extends Given<Name>>(
    letter: Name,
    template: (props: Props & Given<Name>) => ReactNode,
    values: Values<Props>,
    choices: Choices<Props>,
    subject: Content['subject'] = 'subject',
  ): Content => ({
    letter,
    subject,
    values,
    choices,
    // A text becomes a slot only here.
    toElement: (look, texts) =>
      createElement(template, { look, t: textsOf(mails, letter), ...texts, ...choices } as unknown as Props),
  })
  switch (message.template) {
    case 'verify-new-email': {
      const { isOwn, currentEmail, newEmail, code, link, firstMethod } = message
      const validity = validityInWords(language, message.validMs) ?? textsOf(mails, 'letter')('lessThanAMinute')
      const values = { userName, currentEmail, newEmail, code, link, validity }
      const subject = isOwn ? 'subjectOwn' : 'subject'
      return content('verifyNewEmail', VerifyNewEmail, values, { firstMethod, isOwn }, subject)
    }
    case 'email-changed': {
      const { hasPassword, oldEmail, newEmail, notMe } = message
      // The operator command has none.
      const ipAddress = message.ipAddress || '–'
      const link = { notMeUrl: notMe?.url ?? '', notMeUntil: notMe ? time(notMe.until) : '' }
      const values = { userName, oldEmail, newEmail, changedAt: time(message.changedAt), ipAddress, ...link }
      return content('emailChanged', EmailChanged, values, { hasPassword, canUndo: notMe !== null })
    }
    case 'email-change-requested': {
      const { hasPassword, currentEmail, newEmailMasked, ipAddress, notMe } = message
      const link = { notMeUrl: notMe.url, notMeUntil: time(notMe.until) }
      const requestedAt = time(message.requestedAt)
      const values = { userName, currentEmail, newEmailMasked, requestedAt, ipAddress, ...link }
      return content('emailChangeRequested', EmailChangeRequested, values, { hasPassword })
    }
    case 'email-reverted': {
      const { to, email, newEmail, outcome } = message
      const values = { userName, email, newEmail, revertedAt: time(message.revertedAt) }
      const subject = outcome === 'stopped' ? 'subjectStopped' : 'subject'
      return content('emailReverted', EmailReverted, values, { to, outcome }, subject)
    }
    case 'password-changed': {
      const { ipAddress } = message
      const resetUrl = `${appUrl}/forgot-password`
      const values = { userName, changedAt: time(message.changedAt), ipAddress, resetUrl }
      return content('passwordChanged', PasswordChanged, values, { canReset: hasPasswordSignIn })
    }
    case 'password-reset': {
      const { link, ipAddress } = message
      return content('passwordReset', PasswordReset, { userName, link, endsAt: time(message.endsAt), ipAddress }, {})
    }
    case 'no-password-to-reset': {
      const { provider, ipAddress } = message
      const values = { userName, provider: provider ?? '', signInUrl: `${appUrl}/sign-in`, ipAddress }
      return content('noPasswordToReset', NoPasswordToReset, values, { hasProvider: provider !== null })
    }
    case 'withdrawal-requested': {
      const { link, endsAt, ipAddress } = message
      return content(
        'withdrawalRequested',
        WithdrawalRequested,
        { userName, link, endsAt: time(endsAt), ipAddress },
        {},
      )
    }
    case 'withdrawal-by-sign-in': {
      const { settingsUrl, ipAddress } = message
      return content('withdrawalBySignIn', WithdrawalBySignIn, { userName, settingsUrl, ipAddress }, {})
    }
    case 'data-exported': {
      const { ipAddress, settingsUrl } = message
      const values = { userName, exportedAt: time(message.exportedAt), ipAddress, settingsUrl }
      return content('dataExported', DataExported, values, {})
    }
    case 'account-withdrawal-started': {
      const { askedBy, progressUrl, scheduledCompletion, retentionDays } = message
      const [doneBy, retention] = [time(scheduledCompletion), daysInWords(language, retentionDays)]
      return content(
        'accountWithdrawalStarted',
        AccountWithdrawalStarted,
        { userName, progressUrl, doneBy, retention },
        { askedBy },
      )
    }
    case 'account-withdrawal-told': {
      const { askedBy, scheduledCompletion, retentionDays } = message
      const [doneBy, retention] = [time(scheduledCompletion), daysInWords(language, retentionDays)]
      return content('accountWithdrawalTold', AccountWithdrawalTold, { userName, doneBy, retention }, { askedBy })
    }
  }
}

/** Such as “20 November 2026 at 09:00 UTC”, because the reader's time zone is unknown. */
function utcIn(language: Language, date: Date): string {
  return `${new Intl.DateTimeFormat(dateTag(language), { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(date)} UTC`
}

/** Cuts a long name, so that it cannot push the message out of sight. */
function displayName(name: string): string {
  const characters = Array.from(name.trim())
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : characters.join('')
}
