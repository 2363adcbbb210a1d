import type { z } from 'zod'
import { type Contract, type Data, type Input, isAdminContract } from '@/contract/define'
import { AppError, ERRORS, type ErrorCode, parseIssueMessage } from '@/contract/errors'
import { MAX_BODY_BYTES } from '@/contract/vocabulary'
import { readCredential, sha256 } from '@/domain/access/authenticate'
import { authenticateWithdrawn } from '@/domain/access/authenticate-withdrawn'
import { findCaller } from '@/domain/access/caller'
import { challengeOf } from '@/domain/access/fresh-sign-in'
import type { Actor, BucketState, Context } from '@/domain/context'
import {
  beginIdempotentCall,
  type KeptAnswer,
  keepAnswer,
  keepAnswerWithEffect,
  releaseKey,
} from '@/domain/idempotency'
import { takePlaces, takeReadPlace, takeServicePlace, userBucket } from '@/domain/limits/buckets'
import { systemContext } from '../context'
import { strictTransport } from '../pages/page-headers'
import { describeError, inRequest, log, requestIdOf } from '../watch/log'
import { countRequest } from '../watch/metrics'
import { traceRequest } from '../watch/tracing'
import { clientIpOf } from './client-ip'
import { toSetCookie } from './cookies'
import { isDatabaseAway } from './database-away'
import { METHODS } from './methods'
import { rateLimitHeaders } from './rate-limit-headers'
import { parseStrictJson } from './strict-json'

type Params = Record<string, string>
type Verb<C extends Contract> = (ctx: Context, input: Input<C>) => Promise<Data<C>>

export interface Endpoint<C extends Contract = Contract> {
  contract: C
  handle(request: Request, params: Params, ip: string): Promise<Response>
}

type Method = (typeof METHODS)[number]

/** A handler of a route file. `endpoint` is undefined where the path has no operation of this method. */
type RouteHandler<E extends Endpoint | undefined> = ((
  request: Request,
  context: { params: Promise<Params> },
) => Promise<Response>) & { endpoint: E }

type OfMethod<E extends Endpoint, M extends Method> = E extends { contract: { method: M } } ? E : never
type Route<E extends Endpoint> = {
  [M in Method]: RouteHandler<[OfMethod<E, M>] extends [never] ? undefined : OfMethod<E, M>>
}

/**
 * Makes a request handler from a contract and its verb. The handler checks in this order: media type, size and syntax of the body; the
 * bearer token; scope and path; the fields of the body; the limits that the verb does not count itself.
 */
export const endpoint = <const C extends Contract>(contract: C, verb: Verb<C>): Endpoint<C> => ({
  contract,
  handle(request, params, ip) {
    const exchange = new Exchange(request, contract)
    return inRequest(exchange.requestId, () => serve(exchange, contract, verb, params, ip))
  },
})

async function serve<C extends Contract>(
  exchange: Exchange,
  contract: C,
  verb: Verb<C>,
  params: Params,
  ip: string,
): Promise<Response> {
  try {
    const { request } = exchange
    const { text, value } = contract.body ? await readJson(request) : leaveBody(request)
    const ctx = await admit(exchange, contract, params, ip)
    // A path may call its user by the external id; from here on it is the user's id.
    const path = ctx.actor.userId ? { ...params, userId: ctx.actor.userId } : params
    const run = async () => {
      const input = await acceptInput(ctx, contract, path, { body: value, url: request.url })
      return exchange.succeed(await verb(ctx, input as Input<C>), path)
    }
    const key = contract.method === 'POST' ? request.headers.get('Idempotency-Key') : null
    return key === null ? await run() : await once(exchange, ctx, { key, body: text, params: path }, run)
  } catch (error) {
    return exchange.fail(error)
  }
}

/** Finds the caller and checks that they may make this call on this path; refuses everybody else. */
async function admit(exchange: Exchange, contract: Contract, params: Params, ip: string): Promise<Context> {
  const { headers } = exchange.request
  const system = systemContext()
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(headers.get('Authorization') ?? '')?.[1]
  const credential = token ? await readCredential(system, token) : null
  const actor =
    (credential && (await findCaller(system, credential))) ??
    (token && contract.withdrawn ? await authenticateWithdrawn(system, token, params, contract.withdrawn) : null)
  if (!actor) throw new AppError('AUTH_001')
  exchange.actor = actor
  // Both are needed: the header grants nothing by itself, and a token's scope counts only when the caller names it.
  const isAsked = headers.get('X-Required-Scope') === contract.scope
  if (!isAsked || !actor.scopes.includes(contract.scope) || !isDoorOf(actor, contract, params.userId)) {
    throw new AppError(contract.forbidden)
  }
  return { ...system, actor, ip, buckets: exchange.buckets, setCookie: exchange.setCookie }
}

/** A service token opens the admin API and nothing else; everybody else opens the paths of one user. */
function isDoorOf(actor: Actor, contract: Contract, userId: string | undefined): boolean {
  if (isAdminContract(contract)) return actor.kind === 'service_token'
  if (actor.kind === 'service_token') return false
  return actor.userId === userId || (actor.externalId !== null && userId === `~${actor.externalId}`)
}

/** Handles the Idempotency-Key: keeps the first answer and repeats it. An answer that a later try could change is not kept. */
async function once(
  exchange: Exchange,
  ctx: Context,
  given: { key: string; body: string; params: Params },
  run: () => Promise<Response>,
): Promise<Response> {
  // After a withdrawal only the credential that made the call may read its answer again.
  if (ctx.actor.withdrawal?.madeTheCall === false) return run()
  if (!/^[\x21-\x7e]{1,255}$/.test(given.key)) {
    throw new AppError('REQUEST_001', 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
  }
  const path = new URL(exchange.request.url).pathname
  const caller = ctx.actor.userId || ctx.actor.id
  const key = sha256(`${caller}\n${path}\n${given.key}`).toString('base64url')
  const call = await beginIdempotentCall(ctx, { key, userId: caller, body: given.body })
  if ('body' in call) return exchange.replay(call.body, call.status, call.headers)
  let isKept = false
  ctx.keepAnswer = async (sql, data) => {
    await keepAnswerWithEffect(ctx, sql, call, exchange.compose(data, given.params))
    isKept = true
  }
  let response: Response
  try {
    response = await run()
    if (isKept) return response
  } catch (error) {
    response = exchange.fail(error)
  }
  // A 401 is not kept, because the credential ended meanwhile and the call itself had no outcome. A refusal that no limit counted is not
  // kept either: it is the same every time, and unlimited calls could fill the table.
  const counted = response.status < 400 || exchange.buckets.length > 0
  const final = counted && response.status < 500 && response.status !== 401 && !response.headers.has('Retry-After')
  // The verb has had its effect, so a failure to keep the answer must not change it.
  await (final ? keepAnswer(ctx, ctx.sql, call, await toKept(response)) : releaseKey(ctx, call)).catch((error) =>
    log().error({ event: 'idempotency_key_not_kept', ...describeError(error) }),
  )
  return response
}

async function toKept(response: Response): Promise<KeptAnswer> {
  const headers = Object.fromEntries(
    ['Location', 'WWW-Authenticate'].flatMap((name) => {
      const value = response.headers.get(name)
      return value ? [[name, value]] : []
    }),
  )
  return { status: response.status, headers, body: await response.clone().text() }
}

/** The exports of a route file: each endpoint under its method, and a 405 under the other methods. */
export function route<const E extends readonly Endpoint[]>(...endpoints: E): Route<E[number]> {
  const handlers = METHODS.map((method) => [method, routeHandler(method, endpoints)] as const)
  return Object.fromEntries(handlers) as Route<E[number]>
}

function routeHandler(method: Method, endpoints: readonly Endpoint[]): RouteHandler<Endpoint | undefined> {
  const found = findEndpoint(method, endpoints)
  const handle = async (request: Request, context: { params: Promise<Params> }) => {
    // Next would also serve the path with a trailing slash, which does not exist in the API.
    if (new URL(request.url).pathname.endsWith('/')) return refuse(request, 'REQUEST_005')
    if (!found) return refuse(request, 'REQUEST_004', { Allow: allowed(endpoints) })
    return found.handle(request, (await context?.params) ?? {}, clientIpOf(request.headers))
  }
  return Object.assign(handle, { endpoint: found })
}

export const findEndpoint = (method: string, endpoints: readonly Endpoint[]): Endpoint | undefined =>
  endpoints.find(({ contract }) => contract.method === (method === 'HEAD' ? 'GET' : method))

export const allowed = (endpoints: readonly Endpoint[]): string =>
  endpoints.flatMap(({ contract }) => (contract.method === 'GET' ? ['GET', 'HEAD'] : [contract.method])).join(', ')

/** The exports of the route file for paths that do not exist. */
export const noSuchPath = everyMethod(async (request) => refuse(request, 'REQUEST_005'))

/** The exports of a route file for a document that needs no credential. */
export const publicDocument = (read: () => unknown) =>
  everyMethod(async (request) =>
    request.method === 'GET' || request.method === 'HEAD'
      ? Response.json(read(), {
          headers: { 'Cache-Control': 'public, max-age=300', 'X-Content-Type-Options': 'nosniff' },
        })
      : refuse(request, 'REQUEST_004', { Allow: 'GET, HEAD' }),
  )

function everyMethod(answer: (request: Request) => Promise<Response>) {
  const handlers = METHODS.map((method) => [method, answer] as const)
  return Object.fromEntries(handlers) as Record<Method, typeof answer>
}

/** The error answer of a request that belongs to no endpoint. */
export function refuse(
  request: Request,
  refusal: ErrorCode | AppError,
  headers: Record<string, string> = {},
): Response {
  return new Exchange(request).fail(refusal instanceof AppError ? refusal : new AppError(refusal), headers)
}

async function readJson(request: Request): Promise<{ text: string; value: unknown }> {
  if (!isJson(request.headers)) throw new AppError('REQUEST_003')
  const bytes = await readBody(request)
  const result = parseStrictJson(bytes)
  if ('problem' in result) throw new AppError('REQUEST_001', result.problem)
  return { text: bytes.toString(), value: result.value }
}

/** Whether the body is declared as uncompressed JSON in UTF-8. Other parameters of the media type are ignored. */
function isJson(headers: Headers): boolean {
  const [type = '', ...parameters] = (headers.get('Content-Type') ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => /^charset\b/.test(parameter))
  const isUtf8 = charset === undefined || /^charset\s*=\s*("?)utf-8\1$/.test(charset)
  const encoding = headers.get('Content-Encoding') ?? 'identity'
  return type.trim() === 'application/json' && isUtf8 && encoding.toLowerCase() === 'identity'
}

function refuseOversized({ headers }: Request): void {
  if (Number(headers.get('Content-Length')) > MAX_BODY_BYTES) throw new AppError('REQUEST_002')
}

/** Ignores the body. A body of unknown length is not read to its end, because it may never end. */
function leaveBody(request: Request): { text: string; value: unknown } {
  refuseOversized(request)
  return { text: '', value: {} }
}

async function readBody(request: Request): Promise<Buffer> {
  const endedEarly = () => Promise.reject(new AppError('REQUEST_001', 'The body ended early.'))
  refuseOversized(request)
  // Node reads no more than Content-Length, so no size check is needed. Reading a stream would double the cost of a call.
  if (/^\d+$/.test(request.headers.get('Content-Length') ?? '')) {
    return Buffer.from(await request.arrayBuffer().catch(endedEarly))
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  const next = () => reader?.read().catch(endedEarly)
  for (let part = await next(); part && !part.done; part = await next()) {
    size += part.value.byteLength
    if (size > MAX_BODY_BYTES) {
      reader?.cancel().catch(() => {})
      throw new AppError('REQUEST_002')
    }
    chunks.push(part.value)
  }
  return Buffer.concat(chunks)
}

interface Sent {
  body: unknown
  url: string
}

async function acceptInput(ctx: Context, contract: Contract, params: Params, sent: Sent): Promise<unknown> {
  const { limit } = contract
  let input: unknown
  try {
    input = parseInput(contract, params, sent)
  } catch (refusal) {
    if (limit?.countsMalformed) await takeCallPlace(ctx, limit.bucket)
    throw refusal
  }
  if (limit && limit.takenBy !== 'verb') await takeCallPlace(ctx, limit.bucket)
  return input
}

function parseInput(contract: Contract, params: Params, { body, url }: Sent): unknown {
  const schema = contract.accepts ?? contract.body
  const query = contract.query && parseWith(contract.query, queryOf(url))
  return { ...parseWith(schema, body), ...query, ...parseWith(contract.params, params) }
}

/** A name that is given more than once is a list, which no member is. */
function queryOf(url: string): Record<string, unknown> {
  const { searchParams } = new URL(url)
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const [value, ...more] = searchParams.getAll(name)
      return [name, more.length > 0 ? [value, ...more] : value]
    }),
  )
}

function parseWith(schema: z.ZodObject | undefined, value: unknown): Record<string, unknown> {
  const result = schema?.safeParse(value)
  if (result && !result.success) {
    const issue = result.error.issues[0]
    if (!issue?.path.length) throw new AppError('REQUEST_001')
    const { code, details } = parseIssueMessage(issue.message)
    throw new AppError(code, details)
  }
  return result?.data ?? {}
}

async function takeCallPlace(ctx: Context, bucket: NonNullable<Contract['limit']>['bucket']) {
  if (bucket === 'read') takeReadPlace(ctx)
  else if (bucket === 'service') takeServicePlace(ctx)
  else await takePlaces(ctx, { take: [userBucket(ctx, bucket, ctx.actor.userId)], code: 'RATE_001' })
}

/** One request and its answer: request id, headers and envelope, and the answer's log line, metric and span. */
class Exchange {
  actor: Actor | undefined
  readonly buckets: BucketState[] = []
  private readonly at = systemContext().clock.now()
  private readonly startedAt = performance.now()
  private cookie: string | undefined
  readonly requestId: string

  readonly setCookie = (name: string, value: string, seconds: number): void => {
    this.cookie = toSetCookie(systemContext().appUrl, name, value, seconds)
  }

  constructor(
    readonly request: Request,
    readonly contract?: Contract,
  ) {
    this.requestId = requestIdOf(request.headers.get('X-Request-Id'))
  }

  succeed(data: Record<string, unknown>, params: Params): Response {
    const { status, headers, body } = this.compose(data, params)
    this.conclude({ status })
    return new Response(body, {
      status,
      headers: { ...this.headers(), ...headers, ...(this.cookie && { 'Set-Cookie': this.cookie }) },
    })
  }

  /** The part of the answer that a repetition with the same Idempotency-Key gets again. */
  compose(data: object, params: Params): KeptAnswer {
    const { message, timestamp, location } = this.contract ?? {}
    const parsed = this.contract?.data.parse(data)
    const status = parsed && this.contract?.isCreated?.(parsed) ? 201 : (this.contract?.status ?? 200)
    const body = {
      success: true,
      data: parsed,
      ...(message && { message }),
      ...(timestamp !== false && { timestamp: this.at.toISOString() }),
    }
    const headers: Record<string, string> = {}
    if (location) {
      const values: Record<string, unknown> = { ...params, ...data }
      headers.Location = `/api/v1${location.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name]))}`
    }
    return { status, headers, body: JSON.stringify(body) }
  }

  fail(error: unknown, extra: Record<string, string> = {}): Response {
    const { code, details, retryAfterSeconds } = this.toAppError(error)
    const { status, message } = ERRORS[code]
    const headers = { ...this.headers(), ...extra }
    if (code === 'AUTH_001') {
      const isTokenSent = /^Bearer\s+\S/i.test(this.request.headers.get('Authorization') ?? '')
      headers['WWW-Authenticate'] = isTokenSent ? 'Bearer error="invalid_token"' : 'Bearer'
    }
    if (code === 'REAUTH_001') headers['WWW-Authenticate'] = challengeOf(systemContext(), this.actor)
    if (code === 'AUTH_002' || code === 'WITHDRAWAL_005') {
      headers['WWW-Authenticate'] = `Bearer error="insufficient_scope", scope="${this.contract?.scope}"`
    }
    if (retryAfterSeconds) headers['Retry-After'] = String(retryAfterSeconds)
    this.conclude({ status, code })
    const body = { success: false, error: { code, message, details }, timestamp: this.at.toISOString() }
    return new Response(JSON.stringify(body), { status, headers })
  }

  replay(body: string, status: number, kept: Record<string, string>): Response {
    this.conclude({ status, replayed: true })
    return new Response(body, { status, headers: { ...this.headers(), ...kept, 'Idempotency-Replayed': 'true' } })
  }

  private toAppError(error: unknown): AppError {
    if (error instanceof AppError) return error
    const away = isDatabaseAway(error)
    log().error({ event: away ? 'database_away' : 'unexpected_error', ...this.facts(), ...describeError(error) })
    return away ? new AppError('SERVER_002', undefined, 5) : new AppError('SERVER_001')
  }

  private headers(): Record<string, string> {
    return {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Access-Control-Allow-Origin': systemContext().appUrl,
      'X-Request-Id': this.requestId,
      ...strictTransport(systemContext().appUrl),
      ...rateLimitHeaders(this.buckets, systemContext().clock.now()),
    }
  }

  private conclude(outcome: { status: number; code?: string; replayed?: true }) {
    const facts = this.facts()
    log().info({ event: 'request', ...facts, ...outcome })
    countRequest(facts.operation, outcome.code ?? (outcome.replayed ? 'REPLAYED' : 'OK'), facts.ms)
    traceRequest({ ...facts, ...outcome })
  }

  private facts() {
    return {
      requestId: this.requestId,
      method: this.request.method,
      operation: this.contract?.name,
      userId: this.actor?.userId || undefined,
      actor: this.actor?.kind === 'service_token' ? this.actor.id : undefined,
      ms: Math.round((performance.now() - this.startedAt) * 10) / 10,
    }
  }
}
