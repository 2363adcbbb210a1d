import type * as z from 'zod'
import type { ErrorCode } from './errors'

export const SCOPES = {
  'email:manage': 'Read and change the email address',
  'account:manage': 'Withdraw the account and follow the withdrawal',
  'tokens:manage': 'Manage access tokens and sessions',
} as const
export type Scope = keyof typeof SCOPES

/** The header of what the service's own page reads without its person; such a call does not keep the session. */
export const READ_BY_PAGE = 'X-Read-By-Page'

/** The scopes of access tokens. Only a browser session can manage tokens and sessions. */
export const GRANTABLE_SCOPES = ['email:manage', 'account:manage'] as const satisfies Scope[]
export type GrantableScope = (typeof GRANTABLE_SCOPES)[number]

/** The scopes of service tokens. A service token acts for no user and opens only the admin API. */
export const SERVICE_SCOPES = {
  'users:read': 'Read accounts',
  'users:write': 'Create and update accounts, end their sessions',
  'withdrawals:start': 'Withdraw an account on behalf of its person',
  'pages:issue': 'Issue page tokens, with which your own pages act for an account',
  'apps:manage': 'Manage connected applications',
  'tasks:work': 'Take the deletion tasks of one application',
} as const
export type ServiceScope = keyof typeof SERVICE_SCOPES

interface Operation {
  /** The operation's one name: the verb in `domain/`, the operationId in OpenAPI. */
  name: string
  summary: string
  /** What it does, in sentences that end with a full stop. */
  description: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  params: z.ZodObject
  /** The members of the query, each given once at most; an operation without it ignores the query. */
  query?: z.ZodObject
  /** The caller's input; also the form's schema. */
  body?: z.ZodObject
  /**
   * The media types of a body that the verb gets as it came, with the headers, because its source has a form and a signature of its own,
   * and how many bytes each may have.
   */
  rawBody?: Readonly<Record<string, number>>
  /** Parsed instead of `body` if the verb checks a field itself. */
  accepts?: z.ZodObject
  data: z.ZodObject
  /** The media type of an answer that is a file. It is streamed, so that no Idempotency-Key can keep it; `data` is empty. */
  file?: 'application/zip'
  /** Absent if the description shows a response without `message`. */
  message?: string
  /** In place of `message`, where it would not be true of this answer, which is made now. */
  otherMessage?(data: Record<string, unknown>, now: Date): string | undefined
  status?: 201 | 202
  /** If true, the answer is 201. */
  isCreated?(data: Record<string, unknown>): boolean
  /** A path whose placeholders are params and members of `data`; becomes the Location header. */
  location?: `/users/${string}`
  /** What a credential that a withdrawal ended may still do here. Other operations refuse it as unknown. */
  withdrawn?: 'refused' | 'reads' | 'receipts'
  /** If true, an answer that was kept for an Idempotency-Key is repeated only once the line of its withdrawal stands in the ledger. */
  waitsForLedger?: true
  /** False if the description shows a response without `timestamp`. */
  timestamp?: false
  /**
   * The bucket in which every call takes a place, a row of `domain/limits/limits.ts`. The wrapper takes it before the verb runs, unless
   * the verb takes it in its own statement. An invalid call, which no verb sees, takes a place only with `countsInvalidCalls`.
   */
  limit?: {
    bucket:
      | 'read'
      | 'verify'
      | 'withdraw'
      | 'preview'
      | 'export'
      | 'reauthentication'
      | 'accessToken'
      | 'service'
      | 'report'
    countedBy?: 'verb'
    countsInvalidCalls?: true
  }
  /** The codes of the operation, beside those of every endpoint. */
  errors: readonly ErrorCode[]
  /** What a code means here, where that is not what it means elsewhere. */
  meanings?: Partial<Record<ErrorCode, string>>
  /** If set, the body may be no larger than this. */
  maxBodyBytes?: number
  /** An example answer's `data` for the API page, with an example body and query. */
  example: { body?: Record<string, unknown>; query?: Record<string, string>; data: Record<string, unknown> }
}

/** Opened by the tokens of a user, for the paths of that user, and by the status token of a withdrawal for the paths of that withdrawal. */
export interface UserContract extends Operation {
  /** Below `/api/v1`. */
  path: `/users/{userId}/${string}` | `/withdrawals/{withdrawalId}/${string}`
  scope: Scope
  /** Answers a missing scope, a wrong scope header and another user's path. */
  forbidden: Extract<ErrorCode, 'AUTH_002' | 'WITHDRAWAL_005'>
}

/** Opened by service tokens. */
export interface AdminContract extends Operation {
  /** Below `/api/v1`. */
  path: `/admin/${string}`
  scope: ServiceScope
  forbidden: 'AUTH_002'
  /** Whether the verb refuses an account that has a role. */
  refusesRoles?: true
  /** Also opened by the session of an operator, for the pages of /admin: any session, or one with a fresh sign-in. */
  operator?: 'any' | 'fresh'
}

/** Opened by the token of a deletion task, for that task only. It has no scope. */
export interface TaskContract extends Operation {
  /** Below `/api/v1`. */
  path: '/tasks/{taskId}'
  scope: null
  /** The answer to an unknown task and to any other token. */
  forbidden: 'TASK_001'
}

/** Opened by the token of a mailed link, which the verb checks, or by anybody. No credential of an account opens it. */
export interface LinkContract extends Operation {
  /** Below `/api/v1`. */
  path: `/${string}`
  bearer: 'link_token' | 'none'
  tag: 'Email' | 'Account' | 'Mail'
  scope?: undefined
  forbidden?: undefined
  /** The verb counts its calls. */
  limit?: undefined
}

/** Opened by the token of a mailed link that stands for its account: the wrapper finds the account, and refuses a link that does not work. */
export interface AccountLinkContract extends Operation {
  /** Below `/api/v1`. */
  path: `/${string}`
  bearer: 'account_link'
  tag: 'Account'
  scope?: undefined
  forbidden?: undefined
}

/** One operation of the API: the wrapper, the forms, the client and the OpenAPI document are all made from it. */
export type Contract = UserContract | AdminContract | TaskContract | LinkContract | AccountLinkContract

/** Whether pages of the origins that the operator allows may call this path, which is below `/api/v1`. */
export const isForPages = (path: string) => /^\/(?:(?:users|withdrawals|email-changes)\/|openapi\.json$)/.test(path)

export const isAdminContract = (contract: Contract): contract is AdminContract => contract.path.startsWith('/admin/')
export const isLinkContract = (contract: Contract): contract is LinkContract | AccountLinkContract =>
  'bearer' in contract
export const isAccountLinkContract = (contract: Contract): contract is AccountLinkContract =>
  isLinkContract(contract) && contract.bearer === 'account_link'

export const isTaskContract = (contract: Contract): contract is TaskContract => contract.scope === null

export const contract = <const C extends Contract>(definition: C): C => definition

/** The same for every operation of service tokens. */
export const FOR_SERVICES = {
  forbidden: 'AUTH_002',
  limit: { bucket: 'service' },
  meanings: { AUTH_002: 'Send the scope header of this endpoint once, with a service token that holds the scope.' },
} as const
/** For every operation of service tokens that changes an account. */
export const FOR_SERVICES_ON_ACCOUNT = {
  ...FOR_SERVICES,
  refusesRoles: true,
  meanings: {
    AUTH_002: `${FOR_SERVICES.meanings.AUTH_002} Or the account has a role: the operator command alone changes it.`,
  },
} as const

type BodyOf<C extends Contract> = C extends { accepts: infer A extends z.ZodType }
  ? z.output<A>
  : C extends { body: infer B extends z.ZodType }
    ? z.output<B>
    : unknown
/** An object without members has an index signature, which would hide every other member. */
type Members<T> = string extends keyof T ? unknown : T
type QueryOf<C extends Contract> = C extends { query: infer Q extends z.ZodType } ? z.output<Q> : unknown
type RawOf<C extends Contract> = C extends { rawBody: object } ? { headers: Headers; body: Uint8Array } : unknown
export type Input<C extends Contract> = Members<z.output<C['params']>> & QueryOf<C> & BodyOf<C> & RawOf<C>
/** The client's values for path and query. */
export type Place<C extends Contract> = Members<z.input<C['params']>> &
  (C extends { query: infer Q extends z.ZodType } ? z.input<Q> : unknown)
export type Data<C extends Contract> = z.input<C['data']>
/** A newer server may use words that this client does not know, so any text is accepted. */
type OpenWords<T> = T extends string
  ? T | (string & Record<never, never>)
  : T extends readonly (infer Member)[]
    ? OpenWords<Member>[]
    : T extends object
      ? { [Key in keyof T]: OpenWords<T[Key]> }
      : T
/** What a client receives; a file as the unread response. */
export type Answer<C extends Contract> = C extends { file: string } ? Response : OpenWords<z.output<C['data']>>
/** What a client sends. */
export type Body<C extends Contract> = C extends { body: infer B extends z.ZodType } ? z.input<B> : undefined

/** Text that a database and a mail can carry: no NUL, no half of a surrogate pair. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()
/** The same rule for the API description. UTF-8 cannot encode half of a surrogate pair, so the pattern need not exclude it. */
export const STORABLE = String.raw`^[^\u0000]*$`

/** Counts code points, as JSON Schema does, so that an emoji counts once. */
export const lengthOf = (text: string) => [...text].length
