import { type ErrorCode, RULES } from '@/contract/errors'
import { day, hour, minute } from './durations'

/** At most `places` calls in any rolling `windowMs`. */
export interface Limit {
  places: number
  windowMs: number
}

interface LimitRow extends Limit {
  /** The environment variables that override places and window. */
  settings: readonly [places: string, window: string]
  /** The error code of a call that finds no place. */
  code: Extract<ErrorCode, 'EMAIL_008' | 'RATE_001'>
  /** Names the limit, or says why the refusal has only the sentence of its code. */
  refusal: string | { unnamed: 'reveals an address' | 'the code says enough' }
  /** `always`: the headers of every answer show how full it is. `refusals`: only those of its own refusals do. */
  shown: 'always' | 'refusals'
}

type GivenRow = Omit<LimitRow, 'code' | 'shown'> & Partial<LimitRow>

/** Whatever more an answer told would reveal whose address it is. */
const REVEALING = { refusal: { unnamed: 'reveals an address' }, shown: 'refusals' } as const
/** Mailed links of an account in a day, and those of them that one client asks for. Each kind of link has its own buckets. */
const LINKS_A_DAY = { places: 24, windowMs: day, settings: ['LINK_DAY_LIMIT', 'LINK_WINDOW'], ...REVEALING } as const
const LINKS_OF_PAIR = {
  places: 6,
  windowMs: day,
  settings: ['LINK_CLIENT_DAY_LIMIT', 'LINK_WINDOW'],
  ...REVEALING,
} as const

/** One row for each limit; without `code` it refuses with RATE_001, and without `shown` it is always shown. */
const ROWS = {
  /** Accepted change requests of a user. */
  change: {
    places: 3,
    windowMs: hour,
    settings: ['EMAIL_CHANGE_LIMIT', 'EMAIL_CHANGE_WINDOW'],
    code: 'EMAIL_008',
    refusal: RULES.changeLimit,
  },
  /** Wrong passwords of a user when asking for a change. */
  password: {
    places: 5,
    windowMs: 15 * minute,
    settings: ['EMAIL_PASSWORD_LIMIT', 'EMAIL_PASSWORD_WINDOW'],
    code: 'EMAIL_008',
    refusal: 'Too many wrong passwords. Nothing was changed.',
    shown: 'refusals',
  },
  passwordDay: {
    places: 20,
    windowMs: day,
    settings: ['EMAIL_PASSWORD_DAY_LIMIT', 'EMAIL_PASSWORD_DAY_WINDOW'],
    code: 'EMAIL_008',
    refusal: 'Too many wrong passwords within a day. Nothing was changed.',
    shown: 'refusals',
  },
  /** Changes of a user's password, each of which is mailed and told to the applications. */
  passwordChange: {
    places: 10,
    windowMs: day,
    settings: ['PASSWORD_CHANGE_LIMIT', 'PASSWORD_CHANGE_WINDOW'],
    code: 'EMAIL_008',
    refusal: 'The password was changed too often within a day. Nothing was changed.',
    shown: 'refusals',
  },
  /** Changes of a user to an address that is taken. */
  taken: {
    places: 5,
    windowMs: hour,
    settings: ['EMAIL_TAKEN_LIMIT', 'EMAIL_TAKEN_WINDOW'],
    code: 'EMAIL_008',
    ...REVEALING,
  },
  /** Change requests for one address, over all users. */
  target: {
    places: 5,
    windowMs: day,
    settings: ['EMAIL_TARGET_LIMIT', 'EMAIL_TARGET_WINDOW'],
    code: 'EMAIL_008',
    ...REVEALING,
  },
  /** Verification messages to one address, over all users. */
  targetMail: {
    places: 20,
    windowMs: day,
    settings: ['EMAIL_TARGET_MAIL_LIMIT', 'EMAIL_TARGET_WINDOW'],
    code: 'EMAIL_008',
    ...REVEALING,
  },
  /** Calls with the right token of a mailed link that undoes a change, for each change. */
  notMe: {
    places: 10,
    windowMs: hour,
    settings: ['EMAIL_NOT_ME_LIMIT', 'EMAIL_NOT_ME_WINDOW'],
    code: 'EMAIL_008',
    ...REVEALING,
  },
  /** Calls with a wrong token of such a link, for each client: an IPv4 address, or the 64 bits of an IPv6 network. */
  notMeAddress: {
    places: 100,
    windowMs: 15 * minute,
    settings: ['EMAIL_NOT_ME_ADDRESS_LIMIT', 'EMAIL_NOT_ME_ADDRESS_WINDOW'],
    code: 'EMAIL_008',
    refusal: { unnamed: 'the code says enough' },
    shown: 'refusals',
  },
  verify: {
    places: 30,
    windowMs: hour,
    settings: ['EMAIL_VERIFY_LIMIT', 'EMAIL_VERIFY_WINDOW'],
    refusal: 'Too many codes were tried in a short time. Nothing was changed.',
  },
  withdraw: {
    places: 5,
    windowMs: hour,
    settings: ['WITHDRAW_LIMIT', 'WITHDRAW_WINDOW'],
    refusal: 'The withdrawal was asked for too often in a short time. Nothing was changed.',
  },
  /** Previews of a withdrawal, which count rows. */
  preview: {
    places: 30,
    windowMs: minute,
    settings: ['PREVIEW_LIMIT', 'PREVIEW_WINDOW'],
    refusal: 'The preview was asked for too often in a short time.',
  },
  /** Messages that reset the password of an account. There is no refusal, because it would reveal whose address it is. */
  passwordReset: {
    places: 3,
    windowMs: hour,
    settings: ['PASSWORD_RESET_LIMIT', 'PASSWORD_RESET_WINDOW'],
    ...REVEALING,
  },
  passwordResetDay: LINKS_A_DAY,
  passwordResetPair: LINKS_OF_PAIR,
  /** Requests for such a message by a client: an IPv4 address, or the 64 bits of an IPv6 network. */
  passwordResetAddress: {
    places: 20,
    windowMs: hour,
    settings: ['PASSWORD_RESET_ADDRESS_LIMIT', 'PASSWORD_RESET_WINDOW'],
    refusal: { unnamed: 'the code says enough' },
  },
  /** Messages with a link that deletes an account. There is no refusal, because it would reveal whose address it is. */
  withdrawalRequest: {
    places: 3,
    windowMs: hour,
    settings: ['WITHDRAWAL_REQUEST_LIMIT', 'WITHDRAWAL_REQUEST_WINDOW'],
    ...REVEALING,
  },
  withdrawalRequestDay: LINKS_A_DAY,
  withdrawalRequestPair: LINKS_OF_PAIR,
  /** Requests for such a message by a client: an IPv4 address, or the 64 bits of an IPv6 network. */
  withdrawalRequestAddress: {
    places: 20,
    windowMs: hour,
    settings: ['WITHDRAWAL_REQUEST_ADDRESS_LIMIT', 'WITHDRAWAL_REQUEST_WINDOW'],
    refusal: { unnamed: 'the code says enough' },
  },
  /** Exports of one's own data. */
  export: {
    places: 2,
    windowMs: day,
    settings: ['EXPORT_LIMIT', 'EXPORT_WINDOW'],
    refusal: 'The export was asked for too often in a short time.',
  },
  /** Re-authentications that a user starts at the identity provider. */
  reauthentication: {
    places: 20,
    windowMs: hour,
    settings: ['REAUTHENTICATION_LIMIT', 'REAUTHENTICATION_WINDOW'],
    refusal: 'A confirmation at the identity provider was started too often in a short time.',
  },
  /** Access tokens that a user asks for; above the tokens that an account may have. */
  accessToken: {
    places: 200,
    windowMs: hour,
    settings: ['ACCESS_TOKEN_LIMIT', 'ACCESS_TOKEN_WINDOW'],
    refusal: 'Too many access tokens were asked for in a short time. None was created.',
  },
  /** Kept in the memory of each instance. */
  read: {
    places: 300,
    windowMs: minute,
    settings: ['READ_LIMIT', 'READ_WINDOW'],
    refusal: { unnamed: 'the code says enough' },
  },
  /** Calls of a service token, kept in the memory of each instance. */
  service: {
    places: 600,
    windowMs: minute,
    settings: ['SERVICE_LIMIT', 'SERVICE_WINDOW'],
    refusal: { unnamed: 'the code says enough' },
  },
  /** Reports on one deletion task. */
  report: {
    places: 60,
    windowMs: minute,
    settings: ['TASK_REPORT_LIMIT', 'TASK_REPORT_WINDOW'],
    refusal: 'This task was reported on too often in a short time. The report was not noted.',
  },
  /** Wrong passwords for a pair of account and client. */
  signIn: {
    places: 10,
    windowMs: 15 * minute,
    settings: ['SIGN_IN_LIMIT', 'SIGN_IN_WINDOW'],
    refusal: { unnamed: 'reveals an address' },
  },
  /** Wrong passwords for a client: an IPv4 address, or the 64 bits of an IPv6 network. */
  signInAddress: {
    places: 100,
    windowMs: 15 * minute,
    settings: ['SIGN_IN_ADDRESS_LIMIT', 'SIGN_IN_WINDOW'],
    refusal: { unnamed: 'the code says enough' },
    shown: 'refusals',
  },
} as const satisfies Record<string, GivenRow>

export type BucketName = keyof typeof ROWS
export const BUCKET_NAMES = Object.keys(ROWS) as BucketName[]

/** Every rate limit: store, settings, answers and headers follow from its row. */
export const LIMIT_ROWS = Object.fromEntries(
  Object.entries(ROWS).map(([name, row]) => [name, { code: 'RATE_001', shown: 'always', ...row }]),
) as Record<BucketName, LimitRow>

export interface SettingRow {
  value: number
  setting: string
  /** The maximum; zero is then allowed too. */
  upTo?: number
}

/** Counts and durations that an installation may set, one row each. */
export const SETTING_ROWS = {
  /** Judged codes of one change request. */
  codeAttempts: { value: 5, setting: 'EMAIL_CODE_ATTEMPTS' },
  codeValidityMs: { value: 12 * hour, setting: 'EMAIL_CODE_VALIDITY' },
  /** The maximum age of a change request, however often its message is resent. */
  changeLifetimeMs: { value: day, setting: 'EMAIL_CHANGE_LIFETIME' },
  resendCooldownMs: { value: 5 * minute, setting: 'EMAIL_RESEND_COOLDOWN' },
  /** How long the old address can undo a verified change; 0 is never. Rows of changes are kept for 30 days. */
  undoWindowMs: { value: 7 * day, setting: 'EMAIL_UNDO_WINDOW', upTo: 30 * day },
  /** How long a browser session lives without use, and from its sign-in at most. Both hold for a session from its next use on. */
  sessionIdleMs: { value: 14 * day, setting: 'SESSION_IDLE' },
  sessionLifetimeMs: { value: 30 * day, setting: 'SESSION_LIFETIME' },
  /** From the start of a withdrawal to the purge of what had to stay; the time scale multiplies it. */
  withdrawalRetentionMs: { value: 30 * day, setting: 'WITHDRAWAL_RETENTION' },
} as const satisfies Record<string, SettingRow>

type SettingName = keyof typeof SETTING_ROWS
export const SETTING_NAMES = Object.keys(SETTING_ROWS) as SettingName[]

export type Limits = Record<BucketName, Limit> & Record<SettingName, number>

/** The limits of an installation with these settings, by their names. */
export const limitsFrom = (settings: Readonly<Record<string, number>>): Limits =>
  Object.fromEntries([
    ...BUCKET_NAMES.map((name) => {
      const [places, window] = LIMIT_ROWS[name].settings
      return [name, { places: settings[places], windowMs: settings[window] }]
    }),
    ...SETTING_NAMES.map((name) => [name, settings[SETTING_ROWS[name].setting]]),
  ]) as Limits
