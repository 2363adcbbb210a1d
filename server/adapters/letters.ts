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
  (wording: Wording, userName: string) =>
  <Name extends LetterName, Props extends LetterProps<Name>>(
    name: Name,
    template: (props: Props & LetterProps<Name>) => ReactNode,
    values: Omit<Values<Props>, 'userName'>,
    choices: Choices<Props>,
    subject: Letter['subject'] = 'subject',
  ): Letter => ({
    name,
    subject,
    values: { userName, ...values },
    choices,
    files: [],
    isNamed: userName !== '',
    // A text becomes a slot only here.
    toElement: (look, texts) =>
      createElement(template, { look, t: textsOf(wording, name), ...texts, ...choices } as unknown as Props),
  })

/** Stands for a name that must not be shown. */
const NAMELESS = '–'

/** What the letters of one message are written with. */
function penFor(message: Message, wording: Wording, settings: MessageSettings) {
  const userName = 'userName' in message ? displayName(message.userName) : ''
  const time = (date: Date) => utcIn(wording.language, date)
  return {
    wording,
    settings,
    time,
    letter: letterIn(wording, userName),
    from: (at: Date, { ipAddress, userAgent }: Origin) => ({
      at: time(at),
      device: userAgent === '' ? '' : deviceIn(wording, userAgent),
      ipAddress,
    }),
    /** The operator command alone has no client. */
    by: ({ ipAddress, userAgent }: Origin) => ({
      client: ipAddress === '' ? ('support' as const) : userAgent === '' ? ('address' as const) : ('whole' as const),
    }),
    linkIn: (link: NotMeLink | null) => ({ notMeUrl: link?.url ?? '', notMeUntil: link ? time(link.until) : '' }),
    heldIn: (until: Date | null) => ({ heldUntil: until ? time(until) : '' }),
    /** Of a link that works once. */
    onceIn: ({ link, requestedAt, endsAt }: { link: string; requestedAt: Date; endsAt: Date }) => ({
      link,
      endsAt: time(endsAt),
      validity: validityIn(wording, endsAt.getTime() - requestedAt.getTime()),
    }),
  }
}

type Pen = ReturnType<typeof penFor>
type Template = Message['template']

/** What each kind of message says: the letter, its values as texts, and what it branches on. */
const LETTERS: { [Of in Template]: (message: Extract<Message, { template: Of }>, pen: Pen) => Letter } = {
  'verify-new-email': (message, { letter, time, wording }) => {
    const { isOwn, currentEmail, newEmail, code, link, validUntil, firstMethod } = message
    const validity = validityIn(wording, message.validMs)
    const values = { currentEmail, newEmail, code, link, validity, until: time(validUntil) }
    const subject = isOwn ? 'subjectOwn' : 'subject'
    return letter('verifyNewEmail', VerifyNewEmail, values, { firstMethod, isOwn }, subject)
  },
  'email-changed': (message, { letter, from, by, linkIn }) => {
    const { hasPassword, oldEmail, newEmail, notMe } = message
    const values = { oldEmail, newEmail, ...from(message.changedAt, message), ...linkIn(notMe) }
    return letter('emailChanged', EmailChanged, values, { ...by(message), hasPassword, canUndo: notMe !== null })
  },
  'email-changed-unproven': (message, { letter, time }) => {
    const { oldEmail, newEmailMasked, changedAt } = message
    return letter('emailChanged', EmailChangedUnproven, { oldEmail, newEmailMasked, changedAt: time(changedAt) }, {})
  },
  'email-change-requested': (message, { letter, from, by, linkIn }) => {
    const { hasPassword, currentEmail, newEmailMasked, requestedAt, notMe } = message
    const values = { currentEmail, newEmailMasked, ...from(requestedAt, message), ...linkIn(notMe) }
    const isAlike = maskAddress(currentEmail) === newEmailMasked
    return letter('emailChangeRequested', EmailChangeRequested, values, { ...by(message), hasPassword, isAlike })
  },
  'email-reverted': (message, { letter, from, by, heldIn }) => {
    const { to, email, newEmail, hasPassword, outcome, heldUntil } = message
    const values = { email, newEmail, ...heldIn(heldUntil), ...from(message.revertedAt, message) }
    // A row of the last release does not say where.
    const client = message.ipAddress === '' ? ('none' as const) : by(message).client
    const choices = { client, to, outcome, hasPassword, isHeld: heldUntil !== null }
    const subject = outcome === 'stopped' ? 'subjectStopped' : 'subject'
    return letter('emailReverted', EmailReverted, values, choices, subject)
  },
  'password-changed': (message, { letter, from, by, settings }) => {
    const resetUrl = `${settings.appUrl}/forgot-password`
    const client = message.isVerified ? by(message).client : ('none' as const)
    const choices = { client, canReset: settings.hasPasswordSignIn, keepsBrowser: message.keepsBrowser }
    return letter('passwordChanged', PasswordChanged, { ...from(message.changedAt, message), resetUrl }, choices)
  },
  'new-device': (message, { letter, time, linkIn, wording }) => {
    const { hasPassword, signedInAt, details } = message
    const device = details ? deviceIn(wording, details.userAgent) : ''
    const ipAddress = details?.ipAddress ?? ''
    const link = linkIn(details?.notMe ?? null)
    const values = { count: '1', signedInAt: time(signedInAt), device, ipAddress, ...link }
    const choices = { tells: 'one', hasPassword, hasDetails: details !== null, hasLink: details !== null } as const
    return letter('newDevice', NewDevice, values, choices)
  },
  'new-devices': (message, { letter, time, linkIn, wording }) => {
    const { hasPassword, signIns, more, firstAt, lastAt, notMe } = message
    const named = signIns.map(({ userAgent, ipAddress }) => `${deviceIn(wording, userAgent)}, ${ipAddress}`)
    const rest = more > 0 ? [textsOf(wording, 'newDevice')('more', { count: String(more) })] : []
    const device = [...named, ...rest].join('; ')
    const count = String(signIns.length + more)
    const signedInAt = `${time(firstAt)} – ${time(lastAt)}`
    const values = { count, signedInAt, device, ipAddress: '', ...linkIn(notMe) }
    const choices = { tells: 'many', hasPassword, hasDetails: signIns.length > 0, hasLink: notMe !== null } as const
    return letter('newDevice', NewDevice, values, choices, 'subjectMany')
  },
  'password-reset': (message, { letter, from, by, onceIn }) => {
    const values = { ...onceIn(message), ...from(message.requestedAt, message) }
    return letter('passwordReset', PasswordReset, values, by(message))
  },
  'no-password-to-reset': (message, { letter, from, by, settings }) => {
    const { provider, requestedAt } = message
    const signInUrl = settings.settingsUrl ?? `${settings.appUrl}/sign-in`
    const values = { provider: provider ?? '', signInUrl, ...from(requestedAt, message) }
    return letter('noPasswordToReset', NoPasswordToReset, values, { ...by(message), hasProvider: provider !== null })
  },
  'withdrawal-requested': (message, { letter, from, by, onceIn }) => {
    const values = { ...onceIn(message), ...from(message.requestedAt, message) }
    return letter('withdrawalRequested', WithdrawalRequested, values, by(message))
  },
  'withdrawal-by-sign-in': (message, { letter, time, from, by, heldIn }) => {
    const { settingsUrl, heldUntil, linkFrom, requestedAt } = message
    const ends = { ...heldIn(heldUntil), linkFrom: linkFrom ? time(linkFrom) : '' }
    const values = { settingsUrl, ...ends, ...from(requestedAt, message) }
    const isHeld = heldUntil !== null
    const choices = { ...by(message), isHeld, wasChanged: linkFrom !== null }
    return letter('withdrawalBySignIn', WithdrawalBySignIn, values, choices, isHeld ? 'subjectHeld' : 'subject')
  },
  'undo-before-withdrawal': (message, { letter, time, from, by, linkIn }) => {
    const { notMe, changedAt, requestedAt } = message
    const values = { changedAt: time(changedAt), ...linkIn(notMe), ...from(requestedAt, message) }
    return letter('undoBeforeWithdrawal', UndoBeforeWithdrawal, values, by(message))
  },
  'data-exported': (message, { letter, from, by }) => {
    const { hasPassword, exportedAt, settingsUrl } = message
    const values = { ...from(exportedAt, message), settingsUrl }
    return letter('dataExported', DataExported, values, { ...by(message), hasPassword })
  },
  'access-token-created': (message, { letter, time, from, by, wording }) => {
    const { hasPassword, createdAt, tokenName, scopes, expiresAt, tokensUrl } = message
    const values = {
      ...from(createdAt, message),
      tokensUrl,
      worksUntil: time(expiresAt),
      tokenName: displayName(tokenName) || NAMELESS,
      permissions: scopes.map((scope) => scopeIn(wording, scope)).join(' · '),
    }
    return letter('accessTokenCreated', AccessTokenCreated, values, { ...by(message), hasPassword })
  },
  'account-withdrawal-started': (message, { letter, wording, settings }) => {
    const { progressUrl, receipt } = message
    const facts = withdrawalIn(wording, message, settings.authority)
    const values = { ...facts.values, progressUrl, checkUrl: `${settings.appUrl}/receipt` }
    const choices = { ...facts.choices, hasReceipt: receipt !== null }
    const files = receipt === null ? [] : [{ name: RECEIPT_FILE.name, type: RECEIPT_FILE.type, content: receipt }]
    return { ...letter('accountWithdrawalStarted', AccountWithdrawalStarted, values, choices), files }
  },
  'account-withdrawal-told': (message, { letter, wording, settings }) => {
    const { values, choices } = withdrawalIn(wording, message, settings.authority)
    return letter('accountWithdrawalTold', AccountWithdrawalTold, values, choices)
  },
}

export function letterOf(message: Message, wording: Wording, settings: MessageSettings): Letter {
  const write = LETTERS[message.template] as (message: Message, pen: Pen) => Letter
  return write(message, penFor(message, wording, settings))
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
