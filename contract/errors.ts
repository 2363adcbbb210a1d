import type { Amount } from './amount'
import { MAX_BODY_BYTES, MAX_NEW_PASSWORD_LENGTH, MIN_NEW_PASSWORD_LENGTH } from './vocabulary'

export const CONFIRMATION = 'DELETE_MY_ACCOUNT'

/** The end of a sentence about a new password. */
export const passwordLength = (min = MIN_NEW_PASSWORD_LENGTH) =>
  `must have ${min} to ${MAX_NEW_PASSWORD_LENGTH} characters`

/**
 * Every error answer of the API. `status` is the HTTP status, `message` the fixed meaning, `details` what the caller can do (a verb
 * may give a more exact sentence), `meaning` what the reference says in its place where the verbs have several, `field` the form field that the error belongs to, if there is one.
 */
export const ERRORS = {
  EMAIL_001: {
    status: 400,
    message: 'Invalid email format',
    details: 'Give new_email as one plain address, such as ada@example.com.',
    field: 'new_email',
  },
  EMAIL_002: {
    status: 409,
    message: 'Email already in use',
    details: 'Choose an address that no account uses, your own included.',
    field: 'new_email',
  },
  EMAIL_003: {
    status: 400,
    message: 'Invalid verification code',
    details:
      'verification_code must be the 6 digits from the newest message, as a string. A wrong code uses one of the attempts: its details say how many are left, and so does attempts_remaining of the email status.',
    field: 'verification_code',
  },
  EMAIL_004: {
    status: 410,
    message: 'Verification expired',
    details: 'Start a new change to get a fresh code.',
    field: 'verification_code',
  },
  EMAIL_005: {
    status: 429,
    message: 'Too many verification attempts',
    details: 'All attempts of this request are used. Start a new change.',
    field: 'verification_code',
  },
  EMAIL_006: {
    status: 404,
    message: 'Invalid change request ID',
    details: 'There is no pending change with this id. Read the email status to see what is pending.',
    meaning: 'There is no pending change with this id, or a link of “This wasn’t me” does not work.',
  },
  EMAIL_007: {
    status: 403,
    message: 'Password verification failed',
    details: 'current_password is not the password of this account.',
    field: 'current_password',
  },
  EMAIL_008: {
    status: 429,
    message: 'Rate limit exceeded',
    details: 'Wait as long as Retry-After says, then try again.',
  },
  EMAIL_009: {
    status: 503,
    message: 'Email service unavailable',
    details: 'The message could not be handed over. Nothing was changed; try again in a minute.',
  },
  WITHDRAWAL_001: {
    status: 400,
    message: 'Invalid confirmation string',
    details: `confirmation must be exactly ${CONFIRMATION}.`,
    field: 'confirmation',
  },
  WITHDRAWAL_002: {
    status: 409,
    message: 'Account already withdrawn',
    details: 'Read the progress with the withdrawal id and the status token of the first answer.',
  },
  WITHDRAWAL_003: {
    status: 409,
    message: 'Withdrawal not allowed (pending transactions)',
    details: 'Settle or cancel the pending transactions first.',
    meaning:
      'Something holds the deletion back: pending transactions, a service, an application, or an undo of a change. error.blockers lists each, with code, title, url, source and, where they are known, amount and until.',
  },
  WITHDRAWAL_004: {
    status: 404,
    message: 'Withdrawal ID not found',
    details: 'Use the withdrawal_id of the answer that started the withdrawal.',
  },
  WITHDRAWAL_005: {
    status: 403,
    message: 'Insufficient permissions',
    details:
      'Send X-Required-Scope: account:manage once, with a token that holds this scope, for the path of its own user.',
  },
  WITHDRAWAL_006: {
    status: 400,
    message: 'Invalid deletion link',
    details: 'The link was used, is too old, or is not complete. Ask for a new one.',
  },
  AUTH_001: {
    status: 401,
    message: 'Authentication required',
    details: 'Send Authorization: Bearer with a valid access token.',
  },
  AUTH_002: {
    status: 403,
    message: 'Insufficient permissions',
    details: "Send this endpoint's X-Required-Scope once, with a token that holds it, for the path of its own user.",
  },
  REQUEST_001: {
    status: 400,
    message: 'Invalid request',
    details: 'The body must be a JSON object.',
    meaning: 'The body is not a JSON object, or a field or a member of the query breaks its rule; details names it.',
  },
  REQUEST_002: {
    status: 413,
    message: 'Request too large',
    details: `The body may have ${MAX_BODY_BYTES} bytes at most.`,
    meaning: `The body has more than ${MAX_BODY_BYTES} bytes, or than the operation says.`,
  },
  REQUEST_003: {
    status: 415,
    message: 'Unsupported media type',
    details: 'Send the body as Content-Type: application/json.',
  },
  REQUEST_004: {
    status: 405,
    message: 'Method not allowed',
    details: 'Use a method that the Allow header names.',
  },
  REQUEST_005: {
    status: 404,
    message: 'No such path',
    details: 'See /docs/api for the paths of this service.',
    meaning:
      'The service has no such path, this installation has switched it off, or what an id of the path names does not exist; details says which.',
  },
  REQUEST_006: {
    status: 422,
    message: 'Idempotency-Key reused',
    details: 'This key belongs to a request with another body. Use a new key.',
  },
  REQUEST_007: {
    status: 409,
    message: 'Request still running',
    details: 'The first request with this Idempotency-Key has not finished. Try again shortly.',
  },
  USER_001: {
    status: 404,
    message: 'No such account',
    details: 'No account has this id or address.',
  },
  USER_002: {
    status: 409,
    message: 'External id of a withdrawn account',
    details:
      'The account with this external id was withdrawn. Send "recreate": true only if the person has signed up anew.',
    meaning:
      'The account with this external id was withdrawn; send "recreate": true only if the person has signed up anew. That is refused too while an application has still to delete its data; Retry-After says how long, where that is known.',
  },
  USER_003: {
    status: 409,
    message: 'Account has changed',
    details: 'The account is not at the version of if_version. Read it again before you change it.',
  },
  ORIGIN_001: {
    status: 400,
    message: 'Origin not allowed',
    details: 'origin must be exactly one of ALLOWED_ORIGINS of this service.',
  },
  TASK_001: {
    status: 404,
    message: 'No such task',
    details: 'There is no deletion task with this id that this token reports on.',
  },
  TASK_002: {
    status: 409,
    message: 'Task is over',
    details: 'The task is completed or waived, and this contradicts it.',
  },
  PASSWORD_001: {
    status: 400,
    message: 'Password not acceptable',
    details: `new_password ${passwordLength()}, and differ from the current password.`,
    meaning:
      'new_password is too short or too long, is the current one, or is easy to guess: one of the most used, a name or an address of the account or the product, or stolen. details says which.',
    field: 'new_password',
  },
  PASSWORD_002: {
    status: 400,
    message: 'Invalid password reset link',
    details: 'The link was used, is too old, or is not complete. Ask for a new one.',
  },
  RATE_001: {
    status: 429,
    message: 'Too many requests',
    details: 'Wait as long as Retry-After says, then try again.',
  },
  REAUTH_001: {
    status: 401,
    message: 'Fresh sign-in required',
    details: 'Have the person sign in again, then repeat the call within ten minutes of that.',
  },
  SERVER_001: {
    status: 500,
    message: 'Internal error',
    details: 'The fault is ours and has been logged. Quote the X-Request-Id when you ask for help.',
  },
  SERVER_002: {
    status: 503,
    message: 'Service unavailable',
    details: 'A part of the service is away. Try again shortly.',
  },
} as const satisfies Record<
  string,
  { status: number; message: string; details: string; meaning?: string; field?: string }
>

export type ErrorCode = keyof typeof ERRORS

/** What an error means, as the reference says it. */
export function meaningOf(code: ErrorCode): string {
  const error: { details: string; meaning?: string } = ERRORS[code]
  return error.meaning ?? error.details
}

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text)

/** Of the account's own. */
export interface PendingTransaction extends Pick<Blocker, 'title' | 'url' | 'amount'> {
  id: string
  /** ISO 8601 */
  created_at: string
}

/** What holds a withdrawal back. */
export interface Blocker {
  code: string
  /** The text for people, in the words of its source. */
  title: string
  /** Where it can be settled: an https URL. */
  url: string | null
  /** What has to be paid; absent where that is not known. */
  amount?: Amount | undefined
  /** `account` for the account's own transactions, else the name of the service or the application. */
  source: string
  /** What it stands for: the oldest pending transactions. */
  ids?: string[] | undefined
  transactions?: PendingTransaction[] | undefined
  /** When it ends by itself. */
  until?: string | undefined
}

/** Where people can complain about what is kept or held up. */
export interface Authority {
  name: string
  /** An https URL. */
  url: string
}

/** Of a wrong code and a wrong password. */
export const COUNTED_CODES = ['EMAIL_003', 'EMAIL_007'] as const

/** The only error that a verb throws on purpose. Any other error is a bug and is answered with SERVER_001. */
export class AppError extends Error {
  /** It took an attempt or a place of a guess. An Idempotency-Key keeps it, so that its repetition takes no second one. */
  isCounted = false

  /** The server and Next each bundle their own copy of this class and pass errors to each other, so the name decides. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'AppError'
  }

  constructor(
    readonly code: ErrorCode,
    readonly details: string = ERRORS[code].details,
    /** Whole seconds until the same call can pass. The answer carries them as Retry-After. */
    readonly retryAfterSeconds?: number,
    /** Only with WITHDRAWAL_003. */
    readonly blockers?: readonly Blocker[],
  ) {
    super(ERRORS[code].message)
    this.name = 'AppError'
  }

  static counted(code: (typeof COUNTED_CODES)[number], details?: string): AppError {
    return Object.assign(new AppError(code, details), { isCounted: true })
  }
}

/** A refusal as its caller receives it. Without an answer `status` is 0 and `code` is SERVER_002. */
export class ApiError extends Error {
  constructor(
    /** A newer server may refuse with a code that this client does not know. */
    readonly code: ErrorCode | (string & Record<never, never>),
    readonly details: string,
    readonly status: number,
    readonly retryAfterSeconds?: number,
    message: string = isErrorCode(code) ? ERRORS[code].message : code,
    /** What holds the withdrawal back; only with WITHDRAWAL_003. */
    readonly blockers: readonly Blocker[] = [],
    /** Where people can complain about that, if the service names it; only with WITHDRAWAL_003. */
    readonly authority?: Authority,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

/** The call did not get through. */
const NO_CONNECTION = 'The service did not answer. Check your connection and try again.'
/** Something else than the service answered, such as a proxy, or the answer was cut off. The call may have had its effect. */
export const UNREADABLE = 'The answer of the service could not be read. Try again in a moment.'
/** A token that is good opens the paths of its own user alone. */
export const ANOTHER_USER = 'The path names another user than the one of the token.'
/** The answer of a withdrawal that has begun, until its line stands in the erasure ledger. */
export const DELETION_STARTED = 'The deletion has begun. Repeat the call with the same Idempotency-Key for its answer.'

/**
 * Refusals that say more than their code does. Each has a name, by which the pages have a text of their own for it: whoever refuses and
 * whoever shows the refusal use the same sentence.
 */
export const RULES = {
  breachedPassword: 'new_password is in a list of stolen passwords. Choose another one.',
  changeLimit: 'This account has asked for too many changes in a short time. Nothing was changed.',
  commonPassword: 'new_password is one of the most used passwords. Choose another one.',
  currentAsNew: 'new_password is the current password. Choose another one.',
  currentPassword: 'current_password must not be empty.',
  email: 'email must be one plain address, such as ada@example.com.',
  feedback: 'feedback is required when reason is other.',
  incompleteEmail: 'The address is not complete. Give one such as ada@example.com.',
  noConnection: NO_CONNECTION,
  ownAddress: 'This is already your address.',
  ownWordAsPassword:
    'new_password is a name or an address that belongs to the account or the product. Choose another one.',
  passwordChanged: 'The password was changed meanwhile. Enter the new one.',
  unreadable: UNREADABLE,
} as const

export const noAnswer = (details: string = NO_CONNECTION) => new ApiError('SERVER_002', details, 0)

/** A zod message is `CODE` or `CODE: sentence`. Any other message is a broken rule that has no code of its own. */
export function parseIssueMessage(message: string): { code: ErrorCode; details: string } {
  const [, code = '', sentence] = /^([A-Z]+_\d{3})(?:: (.+))?$/s.exec(message) ?? []
  return isErrorCode(code)
    ? { code, details: sentence ?? ERRORS[code].details }
    : { code: 'REQUEST_001', details: message }
}
