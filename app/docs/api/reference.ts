import * as z from 'zod'
import type { ContentsEntry, ContentsGroup, Meanings } from '@/components/docs/search'
import type { Contract } from '@/contract/define'
import { ERRORS, type ErrorCode, meaningOf } from '@/contract/errors'
import { GROUPS, tagOf } from '@/contract/openapi'
import { type OperationName, operations } from '@/contract/operations'
import { webhooks } from '@/contract/webhooks'
import type { BucketName } from '@/domain/limits/limits'
import { type JsonField, namesIn } from './schema-rows'

export const OVERVIEW = '/docs/api'

/** The chapters of the overview, by their anchors. */
export const CHAPTERS = {
  introduction: 'Introduction',
  examples: 'Examples',
  authentication: 'Authentication',
  envelope: 'Requests and responses',
  limits: 'Rate limits',
  idempotency: 'Idempotency',
  deleting: 'Delete an account from your backend',
  errors: 'Common errors',
  operations: 'All operations',
} as const

/** What the page of the webhooks says before them. */
export const WEBHOOK_CHAPTERS = {
  registering: 'Register an application',
  receiving: 'Receiving messages',
  attempts: 'Attempts',
  verifying: 'Verify a signature',
} as const

/** The words of people who do not say “withdraw”. */
const OF_DELETION =
  'delete deletion deleting remove removal erase erasure close closing cancel terminate deactivate disable deprovision offboard wipe forget forgotten right account user person GDPR'
/** What people look for in a chapter. A word is found by its beginning, so that the longer form stands for the shorter one. */
const CHAPTER_WORDS: Record<keyof typeof CHAPTERS | keyof typeof WEBHOOK_CHAPTERS, string> = {
  introduction:
    'OpenAPI openapi.json Swagger Postman contract specification schema code generator versions versioning compatibility',
  examples:
    'SDK client library package typed first call curl TypeScript Python samples environment variables BASE trial sandbox',
  authentication:
    'Authorization Bearer access tokens service tokens API keys uat_ svc_ login log in logged session X-Required-Scope header scopes permissions roles expired external id JWT OAuth OIDC SSO issuer RFC 6750 RFC 9068',
  envelope: 'success data error JSON body format timestamp X-Request-Id',
  limits: 'Retry-After RateLimit 429 too many requests throttled throttling quota often calls per minute hour',
  idempotency: 'Idempotency-Key idempotent repeat retry twice duplicates',
  deleting: `withdraw guide ${OF_DELETION}`,
  errors: 'codes status refused',
  operations: 'endpoints paths index list overview webhooks events',
  registering:
    'receive deletion tasks register app applications create add new signing secret endpoint connect subject poll integration partner third party',
  receiving:
    'webhook-id secret endpoint events answer 202 404 410 retry duplicates callbacks told tell notify notified notification inform hook push subscribe subscription listen',
  attempts:
    'timeout time-out seconds retry retries schedule back-off backoff Retry-After give up dead letter receiver endpoint down outage happens',
  verifying:
    'signing webhook-id webhook-timestamp webhook-signature whsec_ secret HMAC-SHA256 base64 verification validate rotation tolerance replay createReceiver test receiver app check',
}

const STATUSES = [...new Set(Object.values(ERRORS).map(({ status }) => status))].join(' ')

/** Other words for what an operation does. */
const OPERATION_WORDS: Partial<Record<OperationName, string>> = {
  changeEmail: 'update edit',
  verifyEmail: 'confirm code OTP one-time passcode long valid expires',
  undoEmailChange: 'restore revert roll back',
  withdrawAccount: OF_DELETION,
  withdrawUser: `from your backend ${OF_DELETION}`,
  requestWithdrawal: `by link ${OF_DELETION}`,
  getWithdrawalStatus: 'know deletion done finished progress',
  exportData: 'download takeout portability copy GDPR',
  requestPasswordReset: 'forgot forgotten lost recover recovery',
  listSessions: 'devices logins logged in',
  endSession: 'log out logout',
  endOtherSessions: 'log out logout everywhere',
  endUserSessions: 'log out logout',
  putUser: 'create add register sign up signup import provision provisioning migrate account profile',
  listUndeliverableUsers: 'pagination paging next page cursor bounce bounced undeliverable',
  issuePageToken: 'CORS browser origin frontend embed React',
  putBlocker: 'block stop prevent freeze deletion unpaid open order payment',
  listEvents: 'pagination paging',
  takeTasks: 'receive deletion tasks poll polling without an endpoint',
}

const WRONG = 'wrong incorrect invalid bad'
/** The codes whose own sentences have every word that people look for; a new code stands here or below. */
type NamedByItself =
  | 'EMAIL_005'
  | 'EMAIL_008'
  | 'EMAIL_009'
  | 'WITHDRAWAL_002'
  | 'WITHDRAWAL_004'
  | 'REQUEST_001'
  | 'REQUEST_002'
  | 'REQUEST_003'
  | 'REQUEST_004'
  | 'REQUEST_005'
  | 'REQUEST_006'
  | 'REQUEST_007'
  | 'USER_001'
  | 'USER_002'
  | 'USER_003'
  | 'ORIGIN_001'
  | 'TASK_001'
  | 'TASK_002'
  | 'RATE_001'
  | 'REAUTH_001'
  | 'SERVER_001'
  | 'SERVER_002'
/** What people call a refusal that has another word for it. */
const ERROR_WORDS: Record<Exclude<ErrorCode, NamedByItself>, string> & { [Code in NamedByItself]?: never } = {
  EMAIL_001: `${WRONG} address`,
  EMAIL_002: 'taken duplicate exists',
  EMAIL_003: `${WRONG} OTP`,
  EMAIL_004: 'code link old',
  EMAIL_006: `${WRONG} link expired`,
  EMAIL_007: WRONG,
  WITHDRAWAL_001: WRONG,
  WITHDRAWAL_003: 'blocked blockers',
  WITHDRAWAL_005: 'forbidden denied scope',
  WITHDRAWAL_006: `${WRONG} expired`,
  AUTH_001: `${WRONG} expired token unauthorized`,
  AUTH_002: 'forbidden denied scope',
  PASSWORD_001: `${WRONG} weak short`,
  PASSWORD_002: `${WRONG} expired`,
}

/** Words to try in place of one that nothing has. */
export const SUGGESTED = ['delete', 'verify', 'webhook', 'token', 'limit', 'error codes']

/** Codes that every operation can answer with. */
export const COMMON_CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) =>
  /^(AUTH|REQUEST|RATE|SERVER)_/.test(code),
)
/** The codes of the operation itself. */
export const codesOf = ({ errors, forbidden }: Contract): ErrorCode[] => [
  ...new Set([...errors, ...(forbidden ? [forbidden] : [])]),
]

export type LimitName = BucketName | 'resend'

/** The limits that no contract names, because the verbs do. */
const NAMED_BY_VERB: Partial<Record<string, LimitName>> = {
  changeEmail: 'change',
  resendVerification: 'resend',
  requestPasswordReset: 'passwordResetAddress',
  requestWithdrawal: 'withdrawalRequestAddress',
} satisfies Partial<Record<OperationName, LimitName>>

/** The limit that an operation meets first. */
export const limitNameOf = ({ name, limit }: Contract) => NAMED_BY_VERB[name] ?? limit?.bucket

/** What the limits of many operations count. */
const COUNTED: Partial<Record<LimitName, string>> = {
  read: 'Reads, and ending a session or token',
  service: 'Calls of a service',
}

/** Every limit of an operation, with what it counts. */
export const LIMITED = [...Map.groupBy(operations, limitNameOf)].flatMap(([limit, counted]) =>
  limit ? [{ limit, what: COUNTED[limit] ?? counted.map(({ summary }) => summary).join(', ') }] : [],
)

/** The groups of operations. Each has a page of its own. */
export const OPERATION_GROUPS = GROUPS.map(({ name, description }) => ({
  id: name.toLowerCase(),
  name,
  description,
  operations: operations.filter((contract) => tagOf(contract) === name),
}))
export const WEBHOOKS = {
  id: 'webhooks',
  name: 'Webhooks',
  description: 'What the service sends to connected applications',
} as const

export const ALL_ERRORS = {
  id: 'errors',
  name: 'Errors',
  description: 'Every error code in one list',
} as const

export const pathOf = (group: string) => `${OVERVIEW}/${group}`
export const REFERENCE_PATHS = [OVERVIEW, ...[...OPERATION_GROUPS, WEBHOOKS, ALL_ERRORS].map(({ id }) => pathOf(id))]

const members = (part: string, schema: z.ZodType | undefined, io: 'input' | 'output') =>
  schema ? namesIn(z.toJSONSchema(schema, { io }) as JsonField).map((name) => `${part}.${name}`) : []

const chaptersIn = (titles: Partial<Record<keyof typeof CHAPTER_WORDS, string>>): ContentsEntry[] =>
  (Object.keys(titles) as (keyof typeof titles)[]).map((id) => ({
    id,
    title: titles[id] as string,
    words: CHAPTER_WORDS[id],
    ...(id === 'errors' && { codes: COMMON_CODES }),
    ...(id === 'verifying' && { first: 'signing secret' }),
    ...(id === 'examples' && { first: 'getting started' }),
    ...(id === 'registering' && { first: 'receive deletion tasks' }),
  }))

/** How the ids and tokens of an operation begin, and its words of several parts: `wd_`, `user_profile`. */
const wordsIn = ({ example }: Contract) =>
  [...new Set(JSON.stringify(example).match(/(?<=")(?:[a-z]{2,4}_(?=[\w-]{22,}")|[a-z]+(?:_[a-z]+)+(?="[^:]))/g))].join(
    ' ',
  )

const entryOf = (contract: Contract & { name: OperationName }): ContentsEntry => ({
  id: contract.name,
  title: contract.summary,
  mark: contract.method,
  // Without the verb too: `pageToken`.
  words: `${contract.name} ${contract.name.replace(/^[a-z]+/, '')} ${contract.path} ${OPERATION_WORDS[contract.name] ?? ''} ${wordsIn(contract)}`,
  ...(contract.name === 'withdrawAccount' && { first: 'deletion' }),
  description: contract.description,
  // What every operation can answer is found once, among the common errors.
  codes: codesOf(contract).filter((code) => !COMMON_CODES.includes(code)),
  members: [
    // The others are what the path itself names.
    ...members('path', contract.params, 'input').filter((member) => member.includes(' ')),
    ...members('query', contract.query, 'input'),
    ...members('body', contract.body, 'input'),
    ...members('data', contract.data, 'output'),
  ],
})

export const CONTENTS: ContentsGroup[] = [
  {
    title: 'Basics',
    path: OVERVIEW,
    entries: chaptersIn(CHAPTERS),
  },
  ...OPERATION_GROUPS.map(({ id, name, operations: ours }) => ({
    title: name,
    path: pathOf(id),
    entries: ours.map(entryOf),
  })),
  {
    title: WEBHOOKS.name,
    path: pathOf(WEBHOOKS.id),
    entries: [
      ...chaptersIn(WEBHOOK_CHAPTERS),
      ...webhooks.map(({ name, summary, description, message }) => ({
        id: name,
        title: summary,
        words: `${name} ${name === 'account.withdrawn' ? 'receive deletion tasks' : ''}`,
        description,
        members: members('body', message, 'output'),
      })),
    ],
  },
  {
    title: ALL_ERRORS.name,
    path: pathOf(ALL_ERRORS.id),
    entries: [
      { id: 'codes', title: 'All error codes', words: `list table status ${STATUSES}` },
      ...Object.entries(ERRORS).map(([code, { status }]) => ({
        id: code,
        title: code,
        words: `${status} ${status === 429 ? 'rate limit' : (ERROR_WORDS[code as ErrorCode] ?? '')}`,
      })),
    ],
  },
]

/** The sentences of each error code, for the search. */
export const MEANINGS: Meanings = Object.fromEntries(
  Object.entries(ERRORS).map(([code, { message }]) => [code, { message, details: meaningOf(code as ErrorCode) }]),
)
