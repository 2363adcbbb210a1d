import * as z from 'zod'
import type {
  AccountLinkContract,
  AdminContract,
  Answer,
  Body,
  Contract,
  LinkContract,
  Place,
  UserContract,
} from './define'
import { ApiError, noAnswer, UNREADABLE } from './errors'
import { authority, blocker, minLength } from './fields'

export interface ClientOptions {
  /** The origin of the service. The service's own pages leave it out. */
  baseUrl?: string
  /** Called before each request, so that a short-lived token can be renewed. For some operations it is the token of a link in a mail. */
  accessToken: () => string | Promise<string>
  fetch?: typeof fetch
}

export interface CallOptions {
  /** For POST: a repeated call with the same key and body gets the first answer again and has no second effect. 1 to 255 visible ASCII characters. */
  idempotencyKey?: string
}

const errorEnvelope = z.object({
  error: z.object({
    code: z.string().check(minLength(1)),
    message: z.string().optional(),
    details: z.string(),
    blockers: z.array(blocker).optional(),
    authority: authority.optional(),
  }),
})

export interface ServiceClientOptions extends Omit<ClientOptions, 'accessToken'> {
  /** `svc_…`; keep it out of browsers. */
  serviceToken: string | (() => string | Promise<string>)
}

/**
 * Returns a typed call of any contract: `call(changeEmail, { userId }, { new_email, current_password })`. It resolves to `data` of the
 * answer alone, and throws an ApiError on a refusal.
 */
export const createClient = (options: ClientOptions) =>
  clientOf<UserContract | LinkContract | AccountLinkContract>(options)

/** The same for a service of yours, with a service token: `call(putUser, { externalId }, { email, name })`. */
export const createServiceClient = ({ serviceToken, ...options }: ServiceClientOptions) =>
  clientOf<AdminContract>({
    ...options,
    accessToken: typeof serviceToken === 'string' ? () => serviceToken : serviceToken,
  })

function clientOf<Kind extends Contract>(options: ClientOptions) {
  return async function call<C extends Kind>(
    contract: C,
    params: Place<C>,
    body?: Body<C>,
    { idempotencyKey }: CallOptions = {},
  ): Promise<Answer<C>> {
    const path = pathOf(contract, params as Record<string, unknown>)
    const headers: Record<string, string> = {}
    const isOpen = 'bearer' in contract && contract.bearer === 'none'
    if (!isOpen) headers.Authorization = `Bearer ${await options.accessToken()}`
    if (contract.scope) headers['X-Required-Scope'] = contract.scope
    if (contract.body) headers['Content-Type'] = 'application/json'
    if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey
    const init: RequestInit = { method: contract.method, headers, cache: 'no-store' }
    if (contract.body) init.body = JSON.stringify(body)
    const send = options.fetch ?? fetch
    const response = await send(`${options.baseUrl ?? ''}/api/v1${path}`, init).catch(() => undefined)
    if (response?.ok && contract.file) return response as Answer<C>
    const json: unknown = await response?.json().catch(() => undefined)
    // A truncated answer counts as none, because the call may have had its effect.
    if (!response) throw noAnswer()
    if (response.ok && json === undefined) throw noAnswer(UNREADABLE)
    if (!response.ok) throw toApiError(response, json)
    return readData(contract, (json as { data: unknown }).data)
  }
}

/** Accepts the answer of a newer server: members and words that this client does not know pass, a missing member or another type does not. */
function readData<C extends Contract>(contract: C, data: unknown): Answer<C> {
  const parsed = contract.data.safeParse(data)
  if (parsed.success) return parsed.data as Answer<C>
  if (parsed.error.issues.every((issue) => isUnknownWord(issue, data))) return data as Answer<C>
  throw parsed.error
}

const isUnknownWord = ({ code, path }: z.core.$ZodIssue, data: unknown) =>
  code === 'invalid_value' && typeof path.reduce<unknown>(memberOf, data) === 'string'
const memberOf = (value: unknown, key: PropertyKey) => (value as Record<PropertyKey, unknown> | undefined)?.[key]

function pathOf({ path, query }: Contract, given: Record<string, unknown>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(given[name])))
  const names = Object.keys(query?.shape ?? {}).filter((name) => given[name] !== undefined)
  const search = new URLSearchParams(names.map((name) => [name, String(given[name])]))
  return names.length > 0 ? `${filled}?${search}` : filled
}

export function toApiError(response: Response, json: unknown): ApiError {
  const envelope = errorEnvelope.safeParse(json).data?.error
  // A proxy may send a date instead of a number of seconds.
  const retryAfterSeconds = Number(response.headers.get('Retry-After')) || undefined
  if (!envelope) return new ApiError('SERVER_002', UNREADABLE, response.status, retryAfterSeconds)
  const { code, details, message, blockers, authority } = envelope
  return new ApiError(code, details, response.status, retryAfterSeconds, message, blockers, authority)
}
