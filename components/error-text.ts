import { ApiError, CONFIRMATION, ERRORS, type ErrorCode, isErrorCode, parseIssueMessage } from '@/contract/errors'
import { inWords } from './ui/duration'

/** The sentences of the error table advise programmers; these advise people. */
const FOR_PEOPLE: Partial<Record<ErrorCode, string>> = {
  EMAIL_001: 'Invalid email format. Enter one address, such as ada@example.com.',
  EMAIL_002: 'Email already in use. Choose another one.',
  EMAIL_003: 'Invalid verification code. Enter the 6 digits from the newest message.',
  EMAIL_004: 'Verification expired. Start a new change to get a fresh code.',
  EMAIL_005: 'Too many verification attempts. Start a new change to get a fresh code.',
  EMAIL_006: 'This change was replaced or cancelled.',
  EMAIL_007: 'Password verification failed. This is not the password of your account. Nothing was changed; try again.',
  EMAIL_008: 'Rate limit exceeded: too many tries in a short time. Nothing was changed.',
  EMAIL_009:
    'Email service unavailable: the message could not be sent, and nothing was changed. Try again in a minute.',
  WITHDRAWAL_001: `Type ${CONFIRMATION} in capitals, with the underscores and nothing else.`,
  WITHDRAWAL_002:
    'Account already withdrawn. The link in the message that we sent to you shows how far the deletion is.',
  WITHDRAWAL_005: 'This browser is signed in to another account now. Reload the page.',
  AUTH_001: 'Your session has ended. Sign in again.',
  AUTH_002: 'This browser is signed in to another account now. Reload the page.',
  REAUTH_001: 'This needs a sign-in of the last ten minutes. Sign in again, then repeat it.',
  RATE_001: 'Too many tries in a short time. Nothing was changed.',
  SERVER_001: 'The fault is ours. Nothing you typed is lost; try again.',
}

/** The same for rules without a code of their own. */
const RULES_FOR_PEOPLE: Record<string, string> = {
  'current_password must not be empty.': 'Enter your current password.',
  'feedback is required when reason is other.': 'You chose “Another reason”: say in a few words which.',
}

/** `new_email must …` → `New email must …` */
const speakable = (text: string) =>
  text.replace(/^[a-z]+(?:_[a-z]+)*(?= must| has| is| contains)/, (name) => {
    const words = name.replaceAll('_', ' ')
    return words.charAt(0).toUpperCase() + words.slice(1)
  })

const sentence = (code: ErrorCode, details: string) =>
  details === ERRORS[code].details ? (FOR_PEOPLE[code] ?? details) : (RULES_FOR_PEOPLE[details] ?? speakable(details))

/** What was wrong, what to do, and how long to wait where there is a wait. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something went wrong in this page. Reload it and try again.'
  const { code, details, retryAfterSeconds } = error
  const wait = retryAfterSeconds ? ` You can try again in ${inWords(retryAfterSeconds)}.` : ''
  return (isErrorCode(code) ? sentence(code, details) : details) + wait
}

/** A form's message is either a rule of the contract (`CODE` or `CODE: sentence`) or the text of a refusal. */
export function fieldText(error: { type?: unknown; message?: string } | undefined): string | undefined {
  if (!error?.message || error.type === 'answer') return error?.message
  const { code, details } = parseIssueMessage(error.message)
  return sentence(code, details)
}
