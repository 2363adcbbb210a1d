import { ApiError, CONFIRMATION, ERRORS, type ErrorCode, parseIssueMessage } from '@/contract/errors'
import { inWords } from './ui/duration'

/** What a person can do, where the table's own advice speaks to programmers. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  EMAIL_001: 'Enter one address, such as ada@example.com.',
  EMAIL_002: 'Choose an address that no account uses, your own included.',
  EMAIL_003: 'Enter the 6 digits from the newest message.',
  EMAIL_004: 'Start a new change to get a fresh code.',
  EMAIL_005: 'All attempts for this message are used. Start a new change to get a fresh code.',
  EMAIL_006: 'This change is no longer pending. Start a new one.',
  EMAIL_007: 'This is not the password of your account. Nothing was changed; try again.',
  EMAIL_008: 'Nothing was changed.',
  EMAIL_009: 'The message could not be sent, and nothing was changed. Try again in a minute.',
  WITHDRAWAL_001: `Type ${CONFIRMATION} in capitals, with the underscores and nothing else.`,
  WITHDRAWAL_002: 'The link in the message that we sent to you shows how far the deletion is.',
  WITHDRAWAL_005: 'This browser is signed in to another account now. Reload the page.',
  AUTH_001: 'Sign in again.',
  AUTH_002: 'This browser is signed in to another account now. Reload the page.',
  RATE_001: 'Nothing was changed.',
  SERVER_001: 'The fault is ours. Nothing you typed is lost; try again.',
}

/** `new_email must …` → `New email must …` */
const speakable = (text: string) =>
  text.replace(/^[a-z]+(?:_[a-z]+)*(?= must| has| is| contains)/, (name) => {
    const words = name.replaceAll('_', ' ')
    return words.charAt(0).toUpperCase() + words.slice(1)
  })

const isOfTheTable = (code: ErrorCode, details: string) => details === ERRORS[code].details

/** What was wrong and what to do; with the wait in words where there is one. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something went wrong in this page. Reload it and try again.'
  const { code, details, retryAfterSeconds } = error
  const advice = isOfTheTable(code, details) ? (ADVICE[code] ?? details) : speakable(details)
  const wait = retryAfterSeconds ? ` You can try again in ${inWords(retryAfterSeconds)}.` : ''
  return `${error.message}. ${advice}${wait}`
}

/** A form's message is either a rule of the contract (`CODE` or `CODE: sentence`) or a text that was set from an answer. */
export function fieldText(error: { type?: unknown; message?: string } | undefined): string | undefined {
  if (!error?.message || error.type === 'answer') return error?.message
  const { code, details } = parseIssueMessage(error.message)
  if (code === 'REQUEST_001') return speakable(details)
  return `${ERRORS[code].message}. ${isOfTheTable(code, details) ? (ADVICE[code] ?? details) : details}`
}
