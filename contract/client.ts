import { z } from 'zod'
import type { AdminContract, Answer, Body, Contract, Place, UserContract } from './define'
import { ApiError, isErrorCode, noAnswer } from './errors'

export interface ClientOptions {
  /** Origin of the service; empty in its own pages. */
  baseUrl?: string
  /** Asked before each call, so that a short-lived token may be renewed. */
  accessToken: () => string | Promise<string>
  fetch?: typeof fetch
}

export interface CallOptions {
  /** For POST: the same key and body get the first answer again, without a second effect. 1 to 255 visible ASCII characters. */
  idempotencyKey?: string
}

const errorEnvelope = z.object({ error: z.object({ code: z.string(), details: z.string() }) })

export interface ServiceClientOptions extends Omit<ClientOptions, 'accessToken'> {
  /** `svc_…`; keep it out of browsers. */
  serviceToken: string | (() => string | Promise<string>)
}

/** A typed call of any contract; a refusal throws an ApiError, whose `code` tells the refusals apart: `call(changeEmail, { userId }, { new_email, current_password })`. */
export const createClient = (options: ClientOptions) => clientOf<UserContract>(options)

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
    const headers: Record<string, string> = {
      Authorization: `Bearer ${await options.accessToken()}`,
      'X-Required-Scope': contract.scope,
    }
    if (contract.body) headers['Content-Type'] = 'application/json'
    if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey
    const init: RequestInit = { method: contract.method, headers, cache: 'no-store' }
    if (contract.body) init.body = JSON.stringify(body)
    const send = options.fetch ?? fetch
    const response = await send(`${options.baseUrl ?? ''}/api/v1${path}`, init).catch(() => undefined)
    const json: unknown = await response?.json().catch(() => undefined)
    // An answer that is cut on its way says no more than none: the call may have had its effect.
    if (!response || (response.ok && json === undefined)) throw noAnswer()
    if (!response.ok) throw toApiError(response, json)
    return contract.data.parse((json as { data: unknown }).data) as Answer<C>
  }
}

function pathOf({ path, query }: Contract, given: Record<string, unknown>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(given[name])))
  const asked = Object.keys(query?.shape ?? {}).filter((name) => given[name] !== undefined)
  const search = new URLSearchParams(asked.map((name) => [name, String(given[name])]))
  return asked.length > 0 ? `${filled}?${search}` : filled
}

function toApiError(response: Response, json: unknown): ApiError {
  const envelope = errorEnvelope.safeParse(json).data?.error
  const code = envelope && isErrorCode(envelope.code) ? envelope.code : 'SERVER_002'
  const details = envelope?.details ?? noAnswer().details
  // A proxy may send a date, which is no number of seconds.
  const retryAfterSeconds = Number(response.headers.get('Retry-After')) || undefined
  return new ApiError(code, details, response.status, retryAfterSeconds)
}
