import { createElement, type ReactElement, type ReactNode } from 'react'
import { createTranslator } from 'use-intl/core'
import { maskAddress } from '@/contract/address'
import type { GrantableScope } from '@/contract/define'
import { deviceOf } from '@/contract/device'
import { isName } from '@/contract/fields'
import { dateTag, type Language } from '@/contract/languages'
import { RECEIPT_FILE, SCOPE_TEXTS } from '@/contract/vocabulary'
import type { Message, NotMeLink, Origin } from '@/domain/ports'
import AccessTokenCreated from '@/emails/access-token-created'
import AccountWithdrawalStarted from '@/emails/account-withdrawal-started'
import AccountWithdrawalTold from '@/emails/account-withdrawal-told'
import DataExported from '@/emails/data-exported'
import EmailChangeRequested from '@/emails/email-change-requested'
import EmailChanged from '@/emails/email-changed'
import EmailChangedUnproven from '@/emails/email-changed-unproven'
import EmailReverted from '@/emails/email-reverted'
import type { Look } from '@/emails/layout'
import type { LetterTexts } from '@/emails/letter-texts'
import NewDevice from '@/emails/new-device'
import NoPasswordToReset from '@/emails/no-password-to-reset'
import PasswordChanged from '@/emails/password-changed'
import PasswordReset from '@/emails/password-reset'
import type { Slot } from '@/emails/slot'
import UndoBeforeWithdrawal from '@/emails/undo-before-withdrawal'
import VerifyNewEmail from '@/emails/verify-new-email'
import WithdrawalBySignIn from '@/emails/withdrawal-by-sign-in'
import WithdrawalRequested from '@/emails/withdrawal-requested'
import { accentInTheDark } from '../settings/accent'
import type { Env } from '../settings/env'
import { daysInWords, validityInWords } from '../texts/duration-words'
import { type Catalogue, loadCatalogue } from '../texts/load-catalogue'

export type MessageSettings = Pick<
  Env,
  'supportEmail' | 'appUrl' | 'settingsUrl' | 'hasPasswordSignIn' | 'brand' | 'defaultLanguage' | 'authority'
>

type Texts = Catalogue['Mails']
export interface Wording {
  language: Language
  messages: Catalogue
}
/** A letter has the name of its texts. All letters share the texts of `letter`. */
type LetterName = Exclude<keyof Texts, 'letter'>
/** What every template needs beside its own properties. */
interface LetterProps<Name extends LetterName> {
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

/** Sent with a letter. Its content is text. */
export interface LetterFile {
  name: string
  type: string
  content: string
}

/** A message before it is rendered. */
export interface Letter {
  name: LetterName
  subject: 'subject' | 'subjectMany' | 'subjectOwn' | 'subjectStopped' | 'subjectHeld'
  values: Record<string, string>
  choices: Record<string, unknown>
  /** What it carries beside its text. */
  files: LetterFile[]
  /** Whether it calls its reader by the name. */
  isNamed: boolean
  /** Renders the template. Its slots hold the texts, or the marks that stand for them. */
  toElement(look: Look, texts: Record<string, string>): ReactElement
}

export const textsOf = <Name extends keyof Texts>({ language, messages }: Wording, letter: Name) =>
  createTranslator({
    locale: language,
    messages,
    namespace: `Mails.${letter}` as 'Mails',
    timeZone: 'UTC',
  }) as unknown as LetterTexts<Name>

export const wordingIn = async (language: Language): Promise<Wording> => ({
  language,
  messages: await loadCatalogue(language),
})

const OWN_ACCENT = { accentColor: '#1f4fc4', accentInTheDark: '#9dbdff' }

export function lookIn(wording: Wording, { brand, appUrl, supportEmail }: MessageSettings, isNamed: boolean): Look {
  const { accentColor } = brand
  return {
    language: wording.language,
    product: brand.name,
    productUrl: brand.url ?? null,
    logoUrl: brand.logo ? `${appUrl}/brand/logo` : null,
    ...(accentColor ? { accentColor, accentInTheDark: accentInTheDark(accentColor) } : OWN_ACCENT),
    supportEmail,
    supportUrl: brand.supportUrl ?? null,
    isNamed,
    t: textsOf(wording, 'letter'),
  }
}

const letterIn =
  (wording: Wording, isNamed: boolean) =>
  <Name extends LetterName, Props extends LetterProps<Name>>(
    name: Name,
    template: (props: Props & LetterProps<Name>) => ReactNode,
    values: Values<Props>,
    choices: Choices<Props>,
    subject: Letter['subject'] = 'subject',
  ): Letter => ({
    name,
    subject,
    values,
    choices,
    files: [],
    isNamed,
    // A text becomes a slot only here.
    toElement: (look, texts) =>
      createElement(template, { look, t: textsOf(wording, name), ...texts, ...choices } as unknown as Props),
  })

/** Stands for what is not known, as the address of a call of the operator command. */
const UNKNOWN = '–'

/** What each kind of message says: the letter, its values as texts, and what it branches on. */
export function letterOf(message: Message, wording: Wording, settings: MessageSettings): Letter {
  const { appUrl, settingsUrl, hasPasswordSignIn, authority } = settings
  const { language } = wording
  const userName = 'userName' in message ? displayName(message.userName) : ''
  const time = (date: Date) => utcIn(language, date)
  const from = (at: Date, { ipAddress, userAgent }: Origin) => ({
    at: time(at),
    device: userAgent === '' ? UNKNOWN : deviceIn(wording, userAgent),
    ipAddress: ipAddress || UNKNOWN,
  })
  const linkIn = (link: NotMeLink | null) => ({ notMeUrl: link?.url ?? '', notMeUntil: link ? time(link.until) : '' })
  const heldIn = (until: Date | null) => ({ heldUntil: until ? time(until) : '' })
  /** Of a link that works once. */
  const onceIn = ({ link, requestedAt, endsAt }: { link: string; requestedAt: Date; endsAt: Date }) => ({
    link,
    endsAt: time(endsAt),
    validity: validityIn(wording, endsAt.getTime() - requestedAt.getTime()),
  })
  const letter = letterIn(wording, userName !== '')
  switch (message.template) {
    case 'verify-new-email': {
      const { isOwn, currentEmail, newEmail, code, link, validUntil, firstMethod } = message
      const validity = validityIn(wording, message.validMs)
      const values = { userName, currentEmail, newEmail, code, link, validity, until: time(validUntil) }
      const subject = isOwn ? 'subjectOwn' : 'subject'
      return letter('verifyNewEmail', VerifyNewEmail, values, { firstMethod, isOwn }, subject)
    }
    case 'email-changed': {
      const { hasPassword, oldEmail, newEmail, notMe } = message
      const values = { userName, oldEmail, newEmail, ...from(message.changedAt, message), ...linkIn(notMe) }
      return letter('emailChanged', EmailChanged, values, { hasPassword, canUndo: notMe !== null })
    }
    case 'email-changed-unproven': {
      const { oldEmail, newEmailMasked, changedAt } = message
      return letter('emailChanged', EmailChangedUnproven, { oldEmail, newEmailMasked, changedAt: time(changedAt) }, {})
    }
    case 'email-change-requested': {
      const { hasPassword, currentEmail, newEmailMasked, requestedAt, notMe } = message
      const values = { userName, currentEmail, newEmailMasked, ...from(requestedAt, message), ...linkIn(notMe) }
      const isAlike = maskAddress(currentEmail) === newEmailMasked
      return letter('emailChangeRequested', EmailChangeRequested, values, { hasPassword, isAlike })
    }
    case 'email-reverted': {
      const { to, email, newEmail, hasPassword, outcome, heldUntil } = message
      const values = { userName, email, newEmail, ...heldIn(heldUntil), ...from(message.revertedAt, message) }
      const choices = { to, outcome, hasPassword, isHeld: heldUntil !== null }
      const subject = outcome === 'stopped' ? 'subjectStopped' : 'subject'
      return letter('emailReverted', EmailReverted, values, choices, subject)
    }
    case 'password-changed': {
      const resetUrl = `${appUrl}/forgot-password`
      const values = { userName, ...from(message.changedAt, message), resetUrl }
      const { keepsBrowser } = message
      return letter('passwordChanged', PasswordChanged, values, { canReset: hasPasswordSignIn, keepsBrowser })
    }
    case 'new-device': {
      const { hasPassword, signedInAt, details } = message
      const device = details ? deviceIn(wording, details.userAgent) : ''
      const link = linkIn(details?.notMe ?? null)
      const values = { userName, count: '1', signedInAt: time(signedInAt), device, ipAddress: details?.ipAddress ?? '' }
      const choices = { tells: 'one', hasPassword, hasDetails: details !== null, hasLink: details !== null } as const
      return letter('newDevice', NewDevice, { ...values, ...link }, choices)
    }
    case 'new-devices': {
      const { hasPassword, signIns, more, firstAt, lastAt, notMe } = message
      const named = signIns.map(({ userAgent, ipAddress }) => `${deviceIn(wording, userAgent)}, ${ipAddress}`)
      const rest = more > 0 ? [textsOf(wording, 'newDevice')('more', { count: String(more) })] : []
      const device = [...named, ...rest].join('; ')
      const count = String(signIns.length + more)
      const signedInAt = `${time(firstAt)} – ${time(lastAt)}`
      const values = { userName, count, signedInAt, device, ipAddress: '', ...linkIn(notMe) }
      const choices = { tells: 'many', hasPassword, hasDetails: signIns.length > 0, hasLink: notMe !== null } as const
      return letter('newDevice', NewDevice, values, choices, 'subjectMany')
    }
    case 'password-reset': {
      const values = { userName, ...onceIn(message), ...from(message.requestedAt, message) }
      return letter('passwordReset', PasswordReset, values, {})
    }
    case 'no-password-to-reset': {
      const { provider, requestedAt } = message
      const signInUrl = settingsUrl ?? `${appUrl}/sign-in`
      const values = { userName, provider: provider ?? '', signInUrl, ...from(requestedAt, message) }
      return letter('noPasswordToReset', NoPasswordToReset, values, { hasProvider: provider !== null })
    }
    case 'withdrawal-requested': {
      const values = { userName, ...onceIn(message), ...from(message.requestedAt, message) }
      return letter('withdrawalRequested', WithdrawalRequested, values, {})
    }
    case 'withdrawal-by-sign-in': {
      const { settingsUrl, heldUntil, requestedAt } = message
      const values = { userName, settingsUrl, ...heldIn(heldUntil), ...from(requestedAt, message) }
      const isHeld = heldUntil !== null
      return letter('withdrawalBySignIn', WithdrawalBySignIn, values, { isHeld }, isHeld ? 'subjectHeld' : 'subject')
    }
    case 'undo-before-withdrawal': {
      const { notMe, changedAt, requestedAt } = message
      const link = { notMeUrl: notMe.url, notMeUntil: time(notMe.until) }
      const values = { userName, changedAt: time(changedAt), ...link, ...from(requestedAt, message) }
      return letter('undoBeforeWithdrawal', UndoBeforeWithdrawal, values, {})
    }
    case 'data-exported': {
      const { hasPassword, exportedAt, settingsUrl } = message
      const values = { userName, ...from(exportedAt, message), settingsUrl }
      return letter('dataExported', DataExported, values, { hasPassword })
    }
    case 'access-token-created': {
      const { hasPassword, createdAt, tokenName, scopes, expiresAt, tokensUrl } = message
      const values = {
        ...{ userName, tokensUrl, worksUntil: time(expiresAt), ...from(createdAt, message) },
        tokenName: displayName(tokenName) || UNKNOWN,
        permissions: scopes.map((scope) => scopeIn(wording, scope)).join(' · '),
      }
      return letter('accessTokenCreated', AccessTokenCreated, values, { hasPassword })
    }
    case 'account-withdrawal-started': {
      const { progressUrl, receipt } = message
      const facts = withdrawalIn(wording, message, authority)
      const values = { userName, ...facts.values, progressUrl, checkUrl: `${appUrl}/receipt` }
      const choices = { ...facts.choices, hasReceipt: receipt !== null }
      const files = receipt === null ? [] : [{ name: RECEIPT_FILE.name, type: RECEIPT_FILE.type, content: receipt }]
      return { ...letter('accountWithdrawalStarted', AccountWithdrawalStarted, values, choices), files }
    }
    case 'account-withdrawal-told': {
      const { values, choices } = withdrawalIn(wording, message, authority)
      return letter('accountWithdrawalTold', AccountWithdrawalTold, { userName, ...values }, choices)
    }
  }
}

type WithdrawalMessage = Extract<Message, { template: `account-withdrawal-${string}` }>

const WAYS = {
  person: 'requestedByPerson',
  settings: 'requestedBySettings',
  program: 'requestedByProgram',
  mail: 'requestedByMail',
  service: 'requestedByService',
  support: 'requestedBySupport',
} as const

/** What both letters about a deletion say. */
function withdrawalIn(
  wording: Wording,
  { way, requestedAt, scheduledCompletion, kept }: WithdrawalMessage,
  authority: MessageSettings['authority'],
) {
  const { language, messages } = wording
  const { keptItems } = messages.Deletion
  return {
    values: {
      requestedAt: utcIn(language, requestedAt, 'medium'),
      requestedHow: textsOf(wording, 'letter')(WAYS[way]),
      doneBy: utcIn(language, scheduledCompletion),
      retention: daysInWords(language, kept.days),
      keptUntil: utcIn(language, kept.until),
      keptChosen: new Intl.ListFormat(dateTag(language)).format(kept.chosen.map((choice) => keptItems[choice])),
      authority: authority?.name ?? '',
      authorityUrl: authority?.url ?? '',
    },
    choices: {
      requestedBy: way === 'service' || way === 'support' ? way : ('person' as const),
      keepsMore: kept.chosen.length > 0,
      hasAuthority: authority !== null,
    },
  }
}

/** As the settings name it, such as “Read and change your email address”. */
const scopeIn = ({ messages }: Wording, scope: GrantableScope): string =>
  messages.AccessTokens.scopes[SCOPE_TEXTS[scope]]

/** Such as “Firefox on Linux”. */
function deviceIn(wording: Wording, userAgent: string): string {
  const t = textsOf(wording, 'letter')
  const { browser, system } = deviceOf(userAgent)
  return browser && system ? t('deviceName', { browser, system }) : (browser ?? system ?? t('unknownDevice'))
}

/** Such as “30 minutes”. */
const validityIn = (wording: Wording, ms: number): string =>
  validityInWords(wording.language, ms) ?? textsOf(wording, 'letter')('lessThanAMinute')

/** Such as “20 November 2026 at 09:00 UTC”, because the reader's time zone is unknown. */
function utcIn(language: Language, date: Date, timeStyle: 'short' | 'medium' = 'short'): string {
  return `${new Intl.DateTimeFormat(dateTag(language), { dateStyle: 'long', timeStyle, timeZone: 'UTC' }).format(date)} UTC`
}

/** A text that a mail program may make a link of: a scheme, a domain after whatever stands for its dots, an address, an IP address. */
const LINK = /[\p{L}\p{N}]:\S|\/\/|@|[^\s.。][.。](?:[\p{L}\p{M}]{2,}|xn--)|\d(?:\.\d+){3}/iu
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu
const hasLink = (name: string) => LINK.test(name.normalize('NFKC').replace(UNSEEN, ''))

/**
 * Empty if the letter must not show the name: strangers can write one that our letter would advertise, and names of before the rule
 * are still stored. Cuts a long one, so that it cannot push the message out of sight.
 */
function displayName(name: string): string {
  if (!isName(name) || hasLink(name)) return ''
  const characters = Array.from(name.trim())
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : characters.join('')
}
