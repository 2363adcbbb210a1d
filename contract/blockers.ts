import * as z from 'zod'
import { externalId } from './admin'
import { contract, FOR_SERVICES_ON_ACCOUNT, isStorable, lengthOf, STORABLE } from './define'
import { accountId, amount, blocker, givenTime, isName, isoDateTime, maxLength, NAME_PATTERN } from './fields'

const MAX_KEY_LENGTH = 255
const MAX_CODE_LENGTH = 64
const MAX_TITLE_LENGTH = 200
const MAX_URL_LENGTH = 2000
/** The maximum in one application's answer. */
const MAX_BLOCKERS = 20

const code = z
  .string('REQUEST_001: code must be a string.')
  .regex(/^[!-~]{1,64}$/, `REQUEST_001: code has 1 to ${MAX_CODE_LENGTH} visible ASCII characters.`)
  .describe('For programs, such as `unpaid_invoice`')
export const blockerTitle = z
  .string('REQUEST_001: title must be a string.')
  .refine(
    (text) => isStorable(text) && isName(text),
    'REQUEST_001: title must be text of one line, with something to see and without direction or tag characters.',
  )
  .check(maxLength(MAX_TITLE_LENGTH, `REQUEST_001: title has at most ${MAX_TITLE_LENGTH} characters.`))
  .meta({ description: 'As the person reads it', minLength: 1, pattern: NAME_PATTERN })
const url = z
  .string('REQUEST_001: url must be a string or null.')
  .check(maxLength(MAX_URL_LENGTH, `REQUEST_001: url has at most ${MAX_URL_LENGTH} characters.`))
  .nullable()
  .optional()

interface LinkRules {
  /** Null: any host. */
  hosts: readonly string[] | null
  /** Only in local mode. */
  allowsHttp: boolean
}

/** The URL in its canonical form; null if it is not https, or not of one of the hosts. */
export function linkOf(text: string, { hosts, allowsHttp }: LinkRules): string | null {
  const link = URL.canParse(text) ? new URL(text) : null
  if (!link || link.username || link.password || (hosts && !hosts.includes(link.host))) return null
  return link.protocol === 'https:' || (allowsHttp && link.protocol === 'http:') ? link.href : null
}

/** The answer of an application to a check; nothing else counts as an answer. */
export const checkAnswer = z.strictObject({
  blockers: z
    .array(z.strictObject({ code, title: blockerTitle, url, amount: amount.nullish() }))
    .check(maxLength(MAX_BLOCKERS)),
})

const KEY = `REQUEST_001: key has 1 to ${MAX_KEY_LENGTH} characters and no control character.`
const key = z
  .string(KEY)
  .refine((text) => isStorable(text) && lengthOf(text) <= MAX_KEY_LENGTH && !/^\.{0,2}$|\p{Cc}/u.test(text), KEY)
  .meta({
    description: 'Your own name of the blocker, percent-encoded',
    pattern: String.raw`^(?!\.{1,2}$)[^\u0000-\u001F\u007F-\u009F]+$`,
    maxLength: MAX_KEY_LENGTH,
  })
const params = z.object({ externalId, key })
const common = { ...FOR_SERVICES_ON_ACCOUNT, scope: 'users:write' } as const
const path = '/admin/users/{externalId}/blockers/{key}'
const exampleUserId = 'usr_5Tq8wZ1cXk7Yb3nLhRpV0a'
const example = {
  code: 'unpaid_invoice',
  title: 'Invoice 4711 is not paid',
  amount: { minor_units: 1250, currency: 'EUR' },
}

export const putBlocker = contract({
  ...common,
  name: 'putBlocker',
  summary: 'Hold a Withdrawal Back',
  description:
    'Holds every withdrawal of the account back until the blocker is removed or over. The same key replaces it.',
  method: 'PUT',
  path,
  params,
  body: z.object({
    code,
    title: blockerTitle,
    url: url.describe(
      'Where the person settles it: https, and a host that the operator has named for the service token',
    ),
    amount: amount.nullish().describe('What has to be paid; the page shows it as the language of the person writes it'),
    expires_at: givenTime('REQUEST_001: expires_at must be a time such as 2026-12-20T09:00:00Z.')
      .nullable()
      .optional()
      .describe('When it ends by itself; null or left out: never. One that is over holds nothing back'),
  }),
  data: blocker.omit({ ids: true, transactions: true }).extend({
    user_id: z.string().describe('The account'),
    key: z.string().describe('Your own name of the blocker'),
    expires_at: isoDateTime.nullable().describe('When it ends by itself; null: never'),
  }),
  message: 'The account cannot be withdrawn while this holds it back.',
  otherMessage: ({ expires_at }, now) =>
    typeof expires_at === 'string' && new Date(expires_at) <= now
      ? 'This is over already, and holds nothing back: expires_at is in the past.'
      : undefined,
  errors: ['USER_001', 'RATE_001'],
  example: {
    body: example,
    data: { user_id: exampleUserId, key: 'invoice-4711', ...example, url: null, expires_at: null, source: 'billing' },
  },
})

export const removeBlocker = contract({
  ...common,
  name: 'removeBlocker',
  summary: 'Stop Holding a Withdrawal Back',
  description: 'Removes a blocker that this service has pushed.',
  method: 'DELETE',
  path,
  params,
  data: z.object({
    user_id: z.string().describe('The account'),
    key: z.string().describe('Your own name of the blocker'),
    removed: z.boolean().describe('Whether there was one'),
  }),
  message: 'This does not hold the account back any more.',
  errors: ['REQUEST_001', 'USER_001', 'RATE_001'],
  example: { data: { user_id: exampleUserId, key: 'invoice-4711', removed: true } },
})

export const endBlocker = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'endBlocker',
  operator: 'fresh',
  summary: 'End a Blocker',
  description: 'Removes a blocker, whichever service has pushed it.',
  method: 'POST',
  path: '/admin/blockers/end',
  scope: 'apps:manage',
  params: z.object({}),
  body: z.object({
    user_id: accountId,
    source: z
      .string('REQUEST_001: source must be a string.')
      .refine(isStorable, 'REQUEST_001: source must be the name of a service token.')
      .check(maxLength(MAX_KEY_LENGTH))
      .meta({ description: 'The name of the service token that has pushed it', pattern: STORABLE }),
    key: key.meta({ description: 'The name that this service gave it' }),
  }),
  data: z.object({
    user_id: z.string().describe('The account'),
    source: z.string().describe('The name of the service token that has pushed it'),
    key: z.string().describe('The name that this service gave it'),
    removed: z.boolean().describe('Whether there was one'),
  }),
  message: 'This does not hold the account back any more.',
  errors: ['REQUEST_001', 'USER_001', 'RATE_001'],
  example: {
    body: { user_id: exampleUserId, source: 'billing', key: 'invoice-4711' },
    data: { user_id: exampleUserId, source: 'billing', key: 'invoice-4711', removed: true },
  },
})
