import * as z from 'zod'
import { MAX_ADDRESS_LENGTH } from './address'
import { contract, FOR_SERVICES, FOR_SERVICES_ON_ACCOUNT, isStorable, lengthOf, STORABLE } from './define'
import { getEmailStatus, NOTHING_PENDING } from './email'
import { RULES } from './errors'
import {
  accountId,
  CONTROLS,
  isoDateTime,
  lineName,
  listLimit,
  MAX_OUTSIDE_ID_BYTES,
  maxLength,
  plainAddress,
  problemOfOutsideId,
  truth,
} from './fields'
import { withdrawAccount, withdrawBody } from './withdrawal'

const MAX_NAME_LENGTH = 1000
const MAX_REQUESTED_BY_LENGTH = 64
const MAX_LOCALE_LENGTH = 35

/** What is wrong with an external id, as the end of a sentence; null if nothing is. The import uses it too. */
export function problemOfExternalId(text: string): string | null {
  const problem = problemOfOutsideId(text)
  if (problem) return problem
  const isReserved = text === '.' || text === '..' || text.startsWith('usr_')
  return isReserved ? 'must not be . or .. and must not begin with usr_.' : null
}

const EXTERNAL_ID = {
  description: 'Your own id of the person, percent-encoded in the path; 1 to 255 bytes, compared byte by byte',
  pattern: `^(?!usr_)(?!\\.{1,2}$)[^${CONTROLS}]+$`,
  maxLength: MAX_OUTSIDE_ID_BYTES,
}
const newExternalId = z
  .string()
  .superRefine((text, refined) => {
    const problem = problemOfExternalId(text)
    if (problem) refined.addIssue({ code: 'custom', message: `REQUEST_001: An external id ${problem}` })
  })
  .meta(EXTERNAL_ID)
// Text that cannot be an external id is answered like an unknown one.
export const externalId = z
  .string()
  .refine((text) => problemOfExternalId(text) === null, 'USER_001')
  .meta(EXTERNAL_ID)

const ADDRESS_MESSAGES = {
  wrongType: 'REQUEST_001: email must be a string.',
  malformed: `EMAIL_001: ${RULES.email}`,
}
const address = plainAddress('The address', ADDRESS_MESSAGES)
const queriedAddress = plainAddress('The address', {
  ...ADDRESS_MESSAGES,
  spaced: 'EMAIL_001: email has a space. In a URL a + stands for a space: write it as %2B.',
})

const personName = lineName('How messages address the person', MAX_NAME_LENGTH)

/** The canonical form, such as pt-BR; null for a text that is no language tag. */
export function canonicalLocale(text: string): string | null {
  try {
    const [canonical] = Intl.getCanonicalLocales(text)
    return canonical !== undefined && canonical.length <= MAX_LOCALE_LENGTH ? canonical : null
  } catch {
    return null
  }
}
export const personLocale = z
  .string('REQUEST_001: locale must be a string or null.')
  .check(maxLength(MAX_LOCALE_LENGTH, 'REQUEST_001: locale must be a BCP 47 language tag, such as pt-BR.'))
  .refine((text) => canonicalLocale(text) !== null, 'REQUEST_001: locale must be a BCP 47 language tag, such as pt-BR.')
  .describe('BCP 47, such as `pt-BR`')

const text = (name: string) => z.string(`REQUEST_001: password.${name} must be a string.`)
const whole = (name: string) => z.int(`REQUEST_001: password.${name} must be a whole number.`)
/** A password hash from another system. Each format has its own members and bounds, which password-formats.ts checks. */
const storedPassword = z
  .object(
    {
      format: text('format').describe('Such as `bcrypt`, `argon2id` or `pbkdf2-sha256-django`'),
      value: text('value').describe("The scheme's own string"),
      salt: text('salt').optional().describe('`firebase-scrypt`, `pbkdf2-keycloak`'),
      signer_key: text('signer_key').optional().describe('`firebase-scrypt`'),
      salt_separator: text('salt_separator').optional().describe('`firebase-scrypt`'),
      rounds: whole('rounds').optional().describe('`firebase-scrypt`'),
      mem_cost: whole('mem_cost').optional().describe('`firebase-scrypt`'),
      iterations: whole('iterations').optional().describe('`pbkdf2-keycloak`'),
      algorithm: text('algorithm').optional().describe('`pbkdf2-keycloak`'),
    },
    'REQUEST_001: password must be an object with format and value.',
  )
  .describe('As your system stored it; used only when the account is created')

const USER_ID = /^usr_[A-Za-z0-9_-]{22}$/
const userId = z
  .string('REQUEST_001: user_id must be a string.')
  .regex(USER_ID, 'USER_001')
  .describe('An existing account without external id, which gets this one')

export const account = z.object({
  user_id: z.string().describe('The account, `usr_…`'),
  external_id: z.string().nullable().describe('Your own id of the person; null where the account has none'),
  email: z.string().describe('The address of the account'),
  email_verified: z.boolean().describe('Whether the address is verified'),
  email_undeliverable: z.boolean().describe('Whether messages to it come back'),
  name: z.string().describe('How messages address the person'),
  locale: z.string().nullable().describe('The language of the person, BCP 47; null where nobody has said it'),
  created_at: isoDateTime.describe('When the account was created'),
  has_password: z.boolean().describe('Whether the person can sign in with a password'),
  pending_change: getEmailStatus.data.shape.pending_change,
  version: z.int().describe('Rises with every change of the account'),
  withdrawal_id: z.string().nullable().describe('Not null once the account is withdrawn'),
})

const MAX_DETAIL_LENGTH = 1000
const MAX_PREFERENCE_KEY_LENGTH = 64
/** The maximum for one account. */
export const MAX_PREFERENCES = 50
const isDetail = (value: unknown) =>
  value === null || (typeof value === 'string' && isStorable(value) && lengthOf(value) <= MAX_DETAIL_LENGTH)
const RULE_OF_DETAIL = `must be a text of at most ${MAX_DETAIL_LENGTH} characters, or null`

const detail = (name: string) =>
  z
    .string(`REQUEST_001: profile.${name} ${RULE_OF_DETAIL}.`)
    .refine(isDetail, `REQUEST_001: profile.${name} ${RULE_OF_DETAIL}.`)
    .nullable()
    .optional()
    .meta({ description: 'Null clears it', maxLength: MAX_DETAIL_LENGTH, pattern: STORABLE })
const profile = z.object(
  { phone: detail('phone'), birth_date: detail('birth_date'), address: detail('address'), bio: detail('bio') },
  'REQUEST_001: profile must be an object.',
)

/** The first member that breaks the rules, as the end of a sentence about it; null if none does. */
function problemOfPreferences(preferences: Record<string, unknown>): string | null {
  const entries = Object.entries(preferences)
  if (entries.length > MAX_PREFERENCES) return `preferences has at most ${MAX_PREFERENCES} members.`
  for (const [key, value] of entries) {
    if (key === '' || !isStorable(key) || lengthOf(key) > MAX_PREFERENCE_KEY_LENGTH)
      return `preferences has keys of 1 to ${MAX_PREFERENCE_KEY_LENGTH} characters, unlike ${JSON.stringify([...key].slice(0, MAX_PREFERENCE_KEY_LENGTH).join(''))}.`
    if (!isDetail(value)) return `preferences.${key} ${RULE_OF_DETAIL}.`
  }
  return null
}
// Not a z.record, which drops a key that is named `__proto__`.
const preferences = z
  .unknown()
  .superRefine((given, refined) => {
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
    const problem = isObject ? problemOfPreferences({ ...given }) : 'preferences must be an object.'
    if (problem) refined.addIssue({ code: 'custom', message: `REQUEST_001: ${problem}` })
  })
  .meta({
    type: 'object',
    description: 'Of the product, by its own keys; a member that is null goes, and one that is left out stays',
    maxProperties: MAX_PREFERENCES,
    propertyNames: { minLength: 1, maxLength: MAX_PREFERENCE_KEY_LENGTH, pattern: STORABLE },
    additionalProperties: { type: ['string', 'null'], maxLength: MAX_DETAIL_LENGTH, pattern: STORABLE },
  }) as unknown as z.ZodType<Record<string, string | null>>

const exampleAccount = {
  user_id: 'usr_5Tq8wZ1cXk7Yb3nLhRpV0a',
  external_id: 'customer-42',
  email: 'ada@example.com',
  email_verified: true,
  email_undeliverable: false,
  name: 'Ada Lovelace',
  locale: 'en-GB',
  created_at: '2026-11-20T09:00:00.000Z',
  has_password: true,
  pending_change: NOTHING_PENDING,
  version: 3,
  withdrawal_id: null,
}

export const putUser = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'putUser',
  summary: 'Create or Update User',
  description:
    'Creates the account with this external id, or updates it. Sending the same body again changes nothing. Another address is in effect at once: it ends the sessions and a pending change, and both addresses get a mail, the old one with a link that undoes it.',
  method: 'PUT',
  path: '/admin/users/{externalId}',
  scope: 'users:write',
  params: z.object({ externalId: newExternalId }),
  body: z.object({
    email: address.optional().describe(`Needed to create the account; at most ${MAX_ADDRESS_LENGTH} characters`),
    email_verified: truth('email_verified').optional().describe('False when left out of a new account'),
    name: personName.optional().describe('How messages address the person; needed to create the account'),
    locale: personLocale.nullable().optional().describe('BCP 47, such as `pt-BR`; null clears it'),
    password: storedPassword.optional(),
    profile: profile.optional().describe('Stays as it is when left out, and so does a member of it'),
    preferences: preferences.optional(),
    user_id: userId.optional(),
    if_version: z
      .int('REQUEST_001: if_version must be a whole number.')
      .optional()
      .describe('The version that the caller has seen; a change of an account that has changed since is refused'),
    old_mailbox: z
      .literal('lost', 'REQUEST_001: old_mailbox must be lost.')
      .optional()
      .describe(
        'Says with another `email` that you have made sure of the person and that somebody else reads the old mailbox: it gets no link, and all earlier links of the account end',
      ),
    recreate: truth('recreate')
      .optional()
      .describe(
        'Whether a new account may have the id of a withdrawn one; refused while an application has still to delete that one',
      ),
  }),
  data: account.extend({ created: z.boolean().describe('Whether this call created the account') }),
  message: 'The account is saved.',
  isCreated: ({ created }) => created === true,
  errors: ['EMAIL_001', 'EMAIL_002', 'USER_001', 'USER_002', 'USER_003', 'RATE_001'],
  example: {
    body: { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace', locale: 'en-GB' },
    data: { ...exampleAccount, created: false },
  },
})

export const getUser = contract({
  ...FOR_SERVICES,
  name: 'getUser',
  summary: 'Get User',
  description: 'Shows one account by your own id of the person.',
  method: 'GET',
  path: '/admin/users/{externalId}',
  scope: 'users:read',
  params: z.object({ externalId }),
  data: account,
  errors: ['USER_001', 'RATE_001'],
  example: { data: exampleAccount },
})

export const findUser = contract({
  ...FOR_SERVICES,
  name: 'findUser',
  summary: 'Find User by Address',
  description: 'Shows the account that uses an address.',
  method: 'GET',
  path: '/admin/users',
  scope: 'users:read',
  params: z.object({}),
  query: z.object({ email: queriedAddress }),
  data: account,
  errors: ['REQUEST_001', 'EMAIL_001', 'USER_001', 'RATE_001'],
  example: { query: { email: exampleAccount.email }, data: exampleAccount },
})

export const listUndeliverableUsers = contract({
  ...FOR_SERVICES,
  name: 'listUndeliverableUsers',
  summary: 'List Users Whose Mail Comes Back',
  description: 'Lists the active accounts with `email_undeliverable`, by their ids and without an address.',
  method: 'GET',
  path: '/admin/undeliverable-users',
  scope: 'users:read',
  params: z.object({}),
  query: z.object({
    after: z
      .string()
      .regex(USER_ID, 'REQUEST_001: after must be the id of an account, usr_….')
      .optional()
      .describe('The `next` of the list before'),
    limit: listLimit(100),
  }),
  data: z.object({
    users: z
      .array(
        z.object({
          user_id: z.string().describe('The account, `usr_…`'),
          external_id: z.string().nullable().describe('Your own id of the person; null where the account has none'),
          since: isoDateTime.describe('When the first message came back'),
        }),
      )
      .describe('In the order of their ids'),
    next: z.string().nullable().describe('Where the next list begins; null where this one is the last'),
  }),
  errors: ['REQUEST_001', 'RATE_001'],
  example: {
    query: { limit: '10' },
    data: {
      users: [
        {
          user_id: exampleAccount.user_id,
          external_id: exampleAccount.external_id,
          since: '2026-11-20T09:00:00.000Z',
        },
      ],
      next: null,
    },
  },
})

export const withdrawUser = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'withdrawUser',
  summary: 'Withdraw on Behalf of a User',
  description: 'Withdraws an account because the person asked you to; `requested_by` goes into the audit log.',
  method: 'POST',
  path: '/admin/users/{externalId}/withdraw',
  scope: 'withdrawals:start',
  params: z.object({ externalId }),
  body: withdrawBody
    .safeExtend({
      requested_by: z
        .string('REQUEST_001: requested_by must be a string.')
        .refine(
          (who) => isStorable(who) && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(who),
          'REQUEST_001: requested_by has printable characters only.',
        )
        .refine(
          (who) => who !== '' && lengthOf(who) <= MAX_REQUESTED_BY_LENGTH,
          `REQUEST_001: requested_by has 1 to ${MAX_REQUESTED_BY_LENGTH} characters.`,
        )
        .meta({
          description: `Who asked for it, kept in the audit; 1 to ${MAX_REQUESTED_BY_LENGTH} printable characters`,
          minLength: 1,
          maxLength: MAX_REQUESTED_BY_LENGTH,
          pattern: `^[^${CONTROLS}\\u2028\\u2029]*$`,
        }),
    })
    .meta(withdrawBody.meta() ?? {}),
  data: withdrawAccount.data.extend({ user_id: z.string().describe('The account, `usr_…`') }),
  message: 'The account is being deleted. This cannot be undone.',
  status: 202,
  location: '/users/{user_id}/withdrawal/{withdrawal_id}',
  waitsForLedger: true,
  errors: ['USER_001', 'WITHDRAWAL_001', 'WITHDRAWAL_002', 'WITHDRAWAL_003', 'RATE_001'],
  example: {
    body: { ...withdrawAccount.example.body, requested_by: 'support ticket 4711' },
    data: { ...withdrawAccount.example.data, user_id: exampleAccount.user_id },
  },
})

const ENDED_SESSIONS = {
  data: z.object({
    user_id: z.string().describe('The account, `usr_…`'),
    sessions_ended: z.int().describe('Browsers that were signed in'),
    tokens_ended: z.int().describe('Access tokens that worked'),
  }),
  message: 'The person is signed out everywhere, and a pending email change is cancelled.',
  errors: ['USER_001', 'RATE_001'],
  example: { data: { user_id: exampleAccount.user_id, sessions_ended: 2, tokens_ended: 1 } },
} as const

export const endUserSessions = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'endUserSessions',
  summary: 'End All Sessions of a User',
  description: 'Ends every session and access token of a person, and cancels a pending change of the address.',
  method: 'DELETE',
  path: '/admin/users/{externalId}/sessions',
  scope: 'users:write',
  params: z.object({ externalId }),
  ...ENDED_SESSIONS,
})

export const endAccountSessions = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'endAccountSessions',
  operator: 'fresh',
  summary: 'End All Sessions of an Account',
  description:
    'Ends every session and access token of an account, named by its own id, and cancels a pending change of the address.',
  method: 'POST',
  path: '/admin/sessions/end',
  scope: 'users:write',
  params: z.object({}),
  body: z.object({ user_id: accountId }),
  ...ENDED_SESSIONS,
  example: { ...ENDED_SESSIONS.example, body: { user_id: exampleAccount.user_id } },
})
