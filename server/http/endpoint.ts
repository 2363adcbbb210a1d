import type { z } from 'zod'
import type { Contract, Data, Input } from '@/contract/define'
import { AppError, ERRORS, type ErrorCode, parseIssueMessage } from '@/contract/errors'
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
import { takePlaces, takeReadPlace, userBucket } from '@/domain/limits/buckets'
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

export interface Endpoint {
  contract: Contract
  handle(request: Request, params: Params, ip: string): Promise<Response>
}

const LARGEST_BODY = 16 * 1024
export type RouteHandler = ((request: Request, context: { params: Promise<Params> }) => Promise<Response>) & {
  endpoint?: Endpoint
}

/**
 * A contract and its verb as a function from request to answer. It checks, in this order: media type, size and syntax, the bearer,
 * scope and path, the body, and the limits that are not the verb's own.
 */
export const endpoint = <const C extends Contract>(contract: C, verb: Verb<C>): Endpoint => ({
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
    const { text, value } = contract.method === 'POST' ? await readJson(request) : leaveBody(request)
    const ctx = await admit(exchange, contract, params, ip)
    const run = async () => {
      const input = await acceptInput(ctx, contract, params, value)
      return exchange.succeed(await verb(ctx, input as Input<C>), params)
    }
    const key = contract.method === 'POST' ? request.headers.get('Idempotency-Key') : null
    return key === null ? await run() : await once(exchange, ctx, { key, body: text, params }, run)
  } catch (error) {
    return exchange.fail(error)
  }
}

/** The caller, who may make this call on this path; refuses everybody else. */
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
  // The header alone grants nothing, and a token's scope is used only when the caller says so.
  const isAsked = headers.get('X-Required-Scope') === contract.scope
  if (!isAsked || !actor.scopes.includes(contract.scope) || actor.userId !== params.userId) {
    throw new AppError(contract.forbidden)
  }
  return { ...system, actor, ip, buckets: exchange.buckets, setCookie: exchange.setCookie }
}

/** With an Idempotency-Key the first answer is kept and given again; what a later try could change is not kept. */
async function once(
  exchange: Exchange,
  ctx: Context,
  given: { key: string; body: string; params: Params },
  run: () => Promise<Response>,
): Promise<Response> {
  // Of a withdrawn account's credentials only the one that made the call may see its answer again.
  if (ctx.actor.withdrawal?.madeTheCall === false) return run()
  if (!/^[\x21-\x7e]{1,255}$/.test(given.key)) {
    throw new AppError('REQUEST_001', 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
  }
  const path = new URL(exchange.request.url).pathname
  const key = sha256(`${ctx.actor.userId}\n${path}\n${given.key}`).toString('base64url')
  const call = await beginIdempotentCall(ctx, { key, userId: ctx.actor.userId, body: given.body })
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
  // A 401 here means that the credential ended meanwhile, which is not the call's own outcome. A refusal that no limit has
  // counted comes out the same every time; kept, strangers to all limits could fill the table.
  const counted = response.status < 400 || exchange.buckets.length > 0
  const final = counted && response.status < 500 && response.status !== 401 && !response.headers.has('Retry-After')
  // The verb has had its effect: what happens to the key no longer changes the answer.
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

/** The exports of a route file: each endpoint under its method, 405 under the others. */
export function route(...endpoints: Endpoint[]): Record<(typeof METHODS)[number], RouteHandler> {
  const handlers = METHODS.map((method) => [method, routeHandler(method, endpoints)] as const)
  return Object.fromEntries(handlers) as Record<(typeof METHODS)[number], RouteHandler>
}

function routeHandler(method: string, endpoints: Endpoint[]): RouteHandler {
  const found = findEndpoint(method, endpoints)
  const handler: RouteHandler = async (request, context) => {
    // Next would serve the path with a slash as well; for the API it does not exist.
    if (new URL(request.url).pathname.endsWith('/')) return refuse(request, 'REQUEST_005')
    if (!found) return refuse(request, 'REQUEST_004', { Allow: allowed(endpoints) })
    return found.handle(request, (await context?.params) ?? {}, clientIpOf(request.headers))
  }
  handler.endpoint = found
  return handler
}

export const findEndpoint = (method: string, endpoints: Endpoint[]): Endpoint | undefined =>
  endpoints.find(({ contract }) => contract.method === (method === 'HEAD' ? 'GET' : method))

export const allowed = (endpoints: Endpoint[]): string =>
  endpoints.flatMap(({ contract }) => (contract.method === 'GET' ? ['GET', 'HEAD'] : [contract.method])).join(', ')

/** Answers every method of a path that does not exist. */
export const noSuchPath = everyMethod(async (request) => refuse(request, 'REQUEST_005'))

/** A document that anyone may read. */
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
  return Object.fromEntries(handlers) as Record<(typeof METHODS)[number], typeof answer>
}

/** An error answer where no endpoint is concerned. */
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

/** In UTF-8 and as it is; parameters that JSON does not know say nothing. */
function isJson(headers: Headers): boolean {
  const [type = '', ...parameters] = (headers.get('Content-Type') ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => /^charset\b/.test(parameter))
  const isUtf8 = charset === undefined || /^charset\s*=\s*("?)utf-8\1$/.test(charset)
  const encoding = headers.get('Content-Encoding') ?? 'identity'
  return type.trim() === 'application/json' && isUtf8 && encoding.toLowerCase() === 'identity'
}

function refuseOversized({ headers }: Request): void {
  if (Number(headers.get('Content-Length')) > LARGEST_BODY) throw new AppError('REQUEST_002')
}

/** It says nothing here, whatever it is. One of unknown length is not waited for: it may never come. */
function leaveBody(request: Request): { text: string; value: unknown } {
  refuseOversized(request)
  return { text: '', value: {} }
}

async function readBody(request: Request): Promise<Buffer> {
  const endedEarly = () => Promise.reject(new AppError('REQUEST_001', 'The body ended early.'))
  refuseOversized(request)
  // HTTP lets no more through than the length says; a stream costs as much as all else that a call does.
  if (/^\d+$/.test(request.headers.get('Content-Length') ?? '')) {
    return Buffer.from(await request.arrayBuffer().catch(endedEarly))
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  const next = () => reader?.read().catch(endedEarly)
  for (let part = await next(); part && !part.done; part = await next()) {
    size += part.value.byteLength
    if (size > LARGEST_BODY) {
      reader?.cancel().catch(() => {})
      throw new AppError('REQUEST_002')
    }
    chunks.push(part.value)
  }
  return Buffer.concat(chunks)
}

async function acceptInput(ctx: Context, contract: Contract, params: Params, body: unknown): Promise<unknown> {
  const { limit } = contract
  let input: unknown
  try {
    input = parseInput(contract, params, body)
  } catch (refusal) {
    if (limit?.countsMalformed) await takeCallPlace(ctx, limit.bucket)
    throw refusal
  }
  if (limit && limit.takenBy !== 'verb') await takeCallPlace(ctx, limit.bucket)
  return input
}

function parseInput(contract: Contract, params: Params, body: unknown): unknown {
  const schema = contract.accepts ?? contract.body
  return { ...parseWith(schema, body), ...parseWith(contract.params, params) }
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

async function takeCallPlace(ctx: Context, bucket: 'read' | 'verify' | 'withdraw') {
  if (bucket === 'read') takeReadPlace(ctx)
  else await takePlaces(ctx, { take: [userBucket(ctx, bucket, ctx.actor.userId)], code: 'RATE_001' })
}

/** One call: its request id, its headers, its envelope; its line in the log, its place in the figures and its span. */
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

  /** The answer without the headers that every call has of its own; the same however often it is asked for. */
  compose(data: object, params: Params): KeptAnswer {
    const { message, timestamp, status = 200, location } = this.contract ?? {}
    const body = {
      success: true,
      data: this.contract?.data.parse(data),
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
      userId: this.actor?.userId,
      ms: Math.round((performance.now() - this.startedAt) * 10) / 10,
    }
  }
}
