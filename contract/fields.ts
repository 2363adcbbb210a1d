import * as z from 'zod'
import { ADDRESS_PATTERN, isIncompleteAddress, MAX_ADDRESS_LENGTH, parseAddress } from './address'
import { type Amount, isCurrency, MAX_MINOR_UNITS } from './amount'
import { GRANTABLE_SCOPES, isStorable, STORABLE } from './define'
import { type Authority, type Blocker, type PendingTransaction, RULES } from './errors'
import { MAX_NEW_PASSWORD_LENGTH, MIN_NEW_PASSWORD_LENGTH } from './vocabulary'

/** zod's own `when` lets a length check run on a value of the wrong type, where it throws if the value's `length` cannot be compared. */
function afterType<Check extends z.core.$ZodCheck>(check: Check): Check {
  check._zod.def.when = ({ value }) => typeof value === 'string' || Array.isArray(value)
  return check
}
/** Counts code points of a text, and members of a list. */
export const minLength = (min: number, message?: string) => afterType(z.minLength(min, message))
export const maxLength = (max: number, message?: string) => afterType(z.maxLength(max, message))

export const isoDateTime = z.iso.datetime({ precision: 3 }).describe('UTC, ISO 8601 with milliseconds')
/** A time with any offset. Its moment is one that answers can tell: east or west of UTC the year may be another. */
export const givenTime = (rule: string) =>
  z.iso.datetime({ offset: true, error: rule }).refine((text) => {
    const year = new Date(text).getUTCFullYear()
    return year >= 0 && year <= 9999
  }, rule)
/** The last day, or the moment of the end. */
export const dateOrTime = z.union(
  [z.iso.date(), isoDateTime],
  'REQUEST_001: retained.until must be a date such as 2036-12-31, or a time such as 2036-12-31T00:00:00.000Z.',
)
/** In the body of an operation for services. */
export const accountId = z
  .string('REQUEST_001: user_id must be a string.')
  .refine(isStorable, 'USER_001')
  .check(maxLength(255, 'USER_001'))
  .meta({ description: 'The account, `usr_…`', pattern: STORABLE })
export const userId = z.string().describe('The user account: `usr_…`, or `~` and the external id')

const NO_CURRENCY = 'REQUEST_001: amount.currency must be a currency code of ISO 4217, such as EUR.'

export const amount = z
  .strictObject(
    {
      minor_units: z
        .int('REQUEST_001: amount.minor_units must be a whole number.')
        .min(0, 'REQUEST_001: amount.minor_units must not be negative.')
        .max(MAX_MINOR_UNITS, `REQUEST_001: amount.minor_units is at most ${MAX_MINOR_UNITS}.`)
        .describe('In the smallest unit of the currency: 1250 stands for 12.50 EUR and for 1250 JPY'),
      currency: z
        .string(NO_CURRENCY)
        .regex(/^[A-Z]{3}$/, NO_CURRENCY)
        .refine(isCurrency, NO_CURRENCY)
        .describe('ISO 4217, such as `EUR`'),
    },
    'REQUEST_001: amount must be an object with minor_units and currency alone.',
  )
  .describe('What has to be paid; absent where that is not known') satisfies z.ZodType<Amount>

const title = z.string().describe('As the person reads it')
const url = z.string().nullable().describe('Where the person settles it; null where no page does')
const amountShown = amount.optional()

const pendingTransaction = z.object({
  id: z.string().describe('The transaction, `txn_…`'),
  title,
  url,
  amount: amountShown,
  created_at: isoDateTime,
}) satisfies z.ZodType<PendingTransaction>

/** What holds a withdrawal back, as in answers. */
export const blocker = z.object({
  code: z.string().describe('For programs, such as `unpaid_invoice`'),
  title,
  url,
  amount: amountShown,
  source: z.string().describe('`account`, a service token or an application'),
  ids: z
    .array(z.string())
    .optional()
    .describe('Present for pending transactions alone: at most a hundred, the oldest first'),
  transactions: z.array(pendingTransaction).optional().describe('The same pending transactions; absent where `ids` is'),
  until: isoDateTime.optional().describe('When it ends by itself; absent where nobody knows'),
}) satisfies z.ZodType<Blocker>

export const authority = z
  .object({
    name: z.string().describe('As people read it'),
    url: z.string().describe('An https URL'),
  })
  .describe(
    'The supervisory authority to which people can complain; absent where the adopter names none',
  ) satisfies z.ZodType<Authority>

export const newPassword = z
  .string('PASSWORD_001')
  .check(minLength(MIN_NEW_PASSWORD_LENGTH, 'PASSWORD_001'), maxLength(MAX_NEW_PASSWORD_LENGTH, 'PASSWORD_001'))
  .refine(isStorable, 'PASSWORD_001: new_password contains characters that no password can have.')
  .meta({
    description:
      'Any characters, compared after Unicode NFKC; not the current password, and none that is easy to guess. The service may ask for more characters',
    pattern: STORABLE,
  })

/** What is wrong with an id of another system, as the end of a sentence; null if nothing is. */
export function problemOfOutsideId(text: string): string | null {
  const bytes = new TextEncoder().encode(text).length
  if (bytes < 1 || bytes > MAX_OUTSIDE_ID_BYTES) return `must have from 1 to ${MAX_OUTSIDE_ID_BYTES} bytes.`
  return isStorable(text) && !/\p{Cc}/u.test(text) ? null : 'must hold no control character.'
}
export const MAX_OUTSIDE_ID_BYTES = 255

export const DEFAULT_LISTED = 100
/** How many entries of a list a call asks for, in a query. */
export function listLimit(most: number) {
  const rule = `REQUEST_001: limit must be a whole number from 1 to ${most}.`
  return z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/, rule)
    .refine((text) => Number(text) <= most, rule)
    .optional()
    .describe(`At most ${most}; ${DEFAULT_LISTED} when left out`)
}

const MAX_APP_ID_LENGTH = 255
/** In a path or a query; a text that cannot be one is answered like an unknown one. */
export const appId = z
  .string()
  .check(maxLength(MAX_APP_ID_LENGTH, 'REQUEST_005'))
  .refine(isStorable, 'REQUEST_005')
  .meta({ description: 'The application, `app_…`', pattern: STORABLE })

/** Control characters, written for use inside a character class of the API description. */
export const CONTROLS = String.raw`\u0000-\u001F\u007F-\u009F`

/** Neither white space nor a character that shows nothing, for the API description too. */
export const VISIBLE =
  '[^\\s\\u00AD\\u034F\\u0600-\\u0605\\u061C\\u06DD\\u070F\\u0890-\\u0891\\u08E2\\u115F-\\u1160\\u17B4-\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\u2800\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]'
const VISIBLE_CHARACTER = new RegExp(VISIBLE, 'u')
export const hasVisible = (text: string) => VISIBLE_CHARACTER.test(text)

/** What ends a line, turns its direction or hides a text in it, written for use inside a character class. */
export const UNRULY = `${CONTROLS}\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069\u{E0000}-\u{E007F}`
const UNRULY_CHARACTER = new RegExp(`[${UNRULY}]`, 'u')
/** The rule of every name. Joiners are good, because words of some languages and some emoji need them. */
export const isName = (text: string) => hasVisible(text) && !UNRULY_CHARACTER.test(text)

/** The same, for the API description. */
export const NAME_PATTERN = `^[^${UNRULY}]*(?=${VISIBLE})[^${UNRULY}]+$`

/** The member `name`. */
export const lineName = (description: string, max: number) =>
  z
    .string('REQUEST_001: name must be a string.')
    .refine(isStorable, 'REQUEST_001: name contains characters that cannot be stored.')
    .refine(
      isName,
      'REQUEST_001: name must be text of one line, with something to see and without direction or tag characters.',
    )
    .check(maxLength(max, `REQUEST_001: name has at most ${max} characters.`))
    .meta({ description, minLength: 1, pattern: NAME_PATTERN })

interface AddressMessages {
  wrongType: string
  malformed: string
  incomplete?: string
  tooLong?: string
  /** For one with a space. */
  spaced?: string
  pattern?: string
}
/** One plain address. */
export const plainAddress = (
  what: string,
  {
    wrongType,
    malformed,
    incomplete = malformed,
    tooLong = malformed,
    spaced = malformed,
    pattern = ADDRESS_PATTERN,
  }: AddressMessages,
) =>
  z
    .string(wrongType)
    .check(maxLength(MAX_ADDRESS_LENGTH, tooLong))
    .refine((text) => parseAddress(text) !== null, {
      error: ({ input }) =>
        isIncompleteAddress(String(input)) ? incomplete : String(input).includes(' ') ? spaced : malformed,
    })
    .meta({
      description: `${what}; at most ${MAX_ADDRESS_LENGTH} characters`,
      format: 'idn-email',
      minLength: 'a@b.c'.length,
      pattern,
    })
/** For calls by people who are not signed in. */
export const accountAddress = plainAddress('The address of the account', {
  wrongType: 'REQUEST_001: email must be a string.',
  malformed: `REQUEST_001: ${RULES.email}`,
  incomplete: `REQUEST_001: ${RULES.incompleteEmail}`,
  tooLong: 'REQUEST_001: email is too long.',
})

/** The scopes of a user's token. */
export const grantedScopes = (description: string) =>
  z
    .array(
      z.enum(GRANTABLE_SCOPES, `REQUEST_001: scopes may hold ${GRANTABLE_SCOPES.join(' and ')}.`),
      'REQUEST_001: scopes must be a list.',
    )
    .check(minLength(1, 'REQUEST_001: scopes must name at least one scope.'))
    .check(maxLength(10, 'REQUEST_001: scopes names more scopes than there are.'))
    .describe(description)

/** Which codes there are follows from the application. */
export const waiveReason = z
  .string('REQUEST_001: the reason must be a string.')
  .regex(/^[a-z][a-z0-9_]{0,31}$/, 'REQUEST_001: the reason must be a code such as gone.')

/** That nobody waits for an application any more. */
export const isWaived = z.object({
  reason: z
    .string()
    .describe(
      '`gone`, `refused`, `unreachable` or a registered code; `other` only of a withdrawal of an earlier release',
    ),
  sentence: z.string().optional().describe('What the person reads; present for a registered reason alone'),
  at: isoDateTime.describe('Since when'),
})

export const truth = (name: string) => z.boolean(`REQUEST_001: ${name} must be true or false.`)
