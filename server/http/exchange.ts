import type { Contract } from '@/contract/define'
import { AppError, ERRORS, type ErrorCode } from '@/contract/errors'
import type { Actor, BucketState } from '@/domain/context'
import type { Download } from '@/domain/download'
import type { KeptAnswer } from '@/domain/idempotency'
import { challengeOf } from '@/domain/sessions/fresh-sign-in'
import { logEventOf } from '../adapters/database-away'
import { systemContext } from '../system-context'
import { describeError, log, requestIdOf } from '../watch/log'
import { countRequest } from '../watch/metrics'
import { traceRequest } from '../watch/tracing'
import { isBearerSent } from './bearer'
import { toSetCookie } from './cookies'
import { answerPreflight, originHeaders } from './origins'
import { rateLimitHeaders } from './rate-limit-headers'
import { strictTransport } from './strict-transport'
import { zipOf } from './zip'

/** The values of a path's placeholders. */
export type Params = Record<string, string>

/** One request and its answer: request id, headers and envelope, and the answer's log line, metric and span. */
export class Exchange {
  actor: Actor | undefined
  readonly buckets: BucketState[] = []
  private readonly at = systemContext().clock.now()
  private readonly startedAt = performance.now()
  private cookie: string | undefined
  readonly requestId: string

  readonly setCookie = (name: string, value: string, seconds: number): void => {
    this.cookie = toSetCookie(systemContext().appUrl, name, value, seconds)
  }

  /** Read on demand, because making the signal costs. */
  readonly clientGone = (): AbortSignal => this.request.signal

  constructor(
    readonly request: Request,
    readonly contract?: Contract,
  ) {
    this.requestId = requestIdOf(request.headers.get('X-Request-Id'))
  }

  succeed(data: object, params: Params): Response {
    const { status, headers, body } = this.compose(data, params)
    this.conclude({ status })
    return new Response(body, {
      status,
      headers: { ...this.headers(), ...headers, ...(this.cookie && { 'Set-Cookie': this.cookie }) },
    })
  }

  sendFile(type: string, download: Download): Response {
    this.conclude({ status: 200 })
    const disposition = `attachment; filename="${download.fileName}"`
    const headers = { ...this.headers(), 'Content-Type': type, 'Content-Disposition': disposition }
    return new Response(zipOf(download), { status: 200, headers })
  }

  /** The part of the answer that a repetition with the same Idempotency-Key gets again. */
  compose(data: object, params: Params): KeptAnswer {
    const { timestamp, location } = this.contract ?? {}
    const parsed = this.contract?.data.parse(data)
    const message = (parsed && this.contract?.otherMessage?.(parsed, this.at)) ?? this.contract?.message
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
    const { code, details, retryAfterSeconds, blockers } = this.toAppError(error)
    const { status, message } = ERRORS[code]
    const headers = { ...this.headers(), ...extra }
    if (code === 'AUTH_001') {
      headers['WWW-Authenticate'] = isBearerSent(this.request) ? 'Bearer error="invalid_token"' : 'Bearer'
    }
    if (code === 'REAUTH_001') headers['WWW-Authenticate'] = challengeOf(systemContext(), this.actor)
    if (code === 'AUTH_002' || code === 'WITHDRAWAL_005') {
      headers['WWW-Authenticate'] = `Bearer error="insufficient_scope", scope="${this.contract?.scope}"`
    }
    if (retryAfterSeconds) headers['Retry-After'] = String(retryAfterSeconds)
    this.conclude({ status, code })
    const { authority } = systemContext()
    const refusal = { code, message, details, ...(blockers && { blockers, ...(authority && { authority }) }) }
    const body = { success: false, error: refusal, timestamp: this.at.toISOString() }
    return new Response(JSON.stringify(body), { status, headers })
  }

  replay(body: string, status: number, kept: Record<string, string>): Response {
    this.conclude({ status, replayed: true })
    return new Response(body, { status, headers: { ...this.headers(), ...kept, 'Idempotency-Replayed': 'true' } })
  }

  private toAppError(error: unknown): AppError {
    if (error instanceof AppError) return error
    const event = logEventOf(error)
    log().error({ event, ...this.facts(), ...describeError(error) })
    return event === 'unexpected_error' ? new AppError('SERVER_001') : new AppError('SERVER_002', undefined, 5)
  }

  private headers(): Record<string, string> {
    return {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'X-Request-Id': this.requestId,
      ...originHeaders(this.request),
      ...strictTransport(systemContext().appUrl),
      ...rateLimitHeaders(this.buckets, systemContext().clock.now()),
    }
  }

  private conclude(outcome: { status: number; code?: string; replayed?: true }) {
    const facts = this.facts()
    log()[this.isPollOfPage(outcome.status) ? 'debug' : 'info']({ event: 'request', ...facts, ...outcome })
    countRequest(facts.operation, outcome.code ?? (outcome.replayed ? 'REPLAYED' : 'OK'), facts.ms)
    traceRequest({ ...facts, ...outcome })
  }

  /** An open page polls every few seconds, so the log shows its calls only at level debug; metrics and traces count them. */
  private isPollOfPage(status: number): boolean {
    const isByPage = ['session', 'page_token', 'status_token'].includes(this.actor?.kind ?? '')
    return isByPage && this.request.method === 'GET' && status === 200
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

/** The answer to a request that belongs to no endpoint: a preflight, or else an error. */
export function refuse(
  request: Request,
  refusal: ErrorCode | AppError,
  headers: Record<string, string> = {},
): Response {
  const preflight = answerPreflight(request)
  if (preflight) return preflight
  return new Exchange(request).fail(refusal instanceof AppError ? refusal : new AppError(refusal), headers)
}
