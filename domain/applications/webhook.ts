import { createHmac } from 'node:crypto'
import type { AnyContext, SystemContext } from '../context'
import { CALL_BACK_OFF, second } from '../limits/durations'
import type { AppAnswer, AppRequest } from '../ports'
import { bytes, type Described, type Part, sql, statement, text, time } from '../sql'
import { nextTryAt, retryAfter } from '../work/queue'

/** The application's endpoint, and the secrets that sign a call. */
export const SIGNING_ROW = {
  app_id: text,
  /** Null if the application polls. */
  endpoint: text.orNull,
  sealed_secret: bytes,
  sealed_previous_secret: bytes.orNull,
  previous_secret_until: time.orNull,
  /** When somebody last stopped waiting for a task that failed; null if it has answered well since. */
  app_waived_at: time.orNull,
}
type SigningRow = Described<typeof SIGNING_ROW>

/** Whether messages are sent to the application in `row`. One that polls, or is disabled, gets none. */
export const isCalled = (row: Part) => sql`${row}.endpoint IS NOT NULL AND ${row}.disabled_at IS NULL`

/** The columns of `SigningRow`, of the application in `row`. */
export const signingOf = (row: Part) =>
  sql`${row}.id AS app_id, ${row}.endpoint, ${row}.sealed_secret, ${row}.sealed_previous_secret, ${row}.previous_secret_until,
     ${row}.waived_at AS app_waived_at`

const forgetFailure = statement(
  'forget-waived-failure',
  { appId: text },
  {},
  (v) => sql`UPDATE connected_apps SET waived_at = NULL, waived_error = NULL WHERE id = ${v.appId}`,
)

/** To be called when an application has done a deletion or has answered a ping. */
export async function noteGoodAnswer(
  { sql }: AnyContext,
  { app_id: appId, app_waived_at: waivedAt }: Pick<SigningRow, 'app_id' | 'app_waived_at'>,
): Promise<void> {
  if (waivedAt) await sql(forgetFailure, { appId })
}

interface Webhook extends Pick<AppRequest, 'body' | 'bodyWithinMs'>, Partial<Pick<AppRequest, 'about'>> {
  /** The same in all tries, so that the receiver can recognise a repetition. */
  id: string
}

/** Makes one attempt, signed by the symmetric scheme v1 of Standard Webhooks. For a day after a rotation the old secret signs too. */
export async function sendWebhook(
  ctx: SystemContext,
  app: SigningRow,
  { id, body, about, ...wanted }: Webhook,
): Promise<AppAnswer> {
  const { endpoint, sealed_previous_secret: previous, previous_secret_until: until } = app
  if (endpoint === null) return { status: 0, problem: 'the application has no endpoint' }
  const now = ctx.clock.now()
  const sealed = previous && until && until > now ? [app.sealed_secret, previous] : [app.sealed_secret]
  const secrets = sealed.flatMap((secret) => ctx.secrets.open(secret)?.toString() ?? [])
  if (secrets.length === 0) return { status: 0, problem: 'no configured key opens its signing secret' }
  return ctx.callApp({
    endpoint,
    headers: signedHeaders(id, now, body, secrets),
    body,
    ...wanted,
    about: about === null ? null : { appId: app.app_id, ...about },
  })
}

/** 404 and 410 say that the application no longer has the person. */
export const isSuccess = ({ status }: AppAnswer) => (status >= 200 && status < 300) || status === 404 || status === 410

export function signedHeaders(id: string, at: Date, body: string, secrets: string[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / second))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/** When the application is called again. Its `Retry-After` replaces the back-off, within the same bounds. */
export const nextCallAt = (ctx: AnyContext, attempts: number, { retryAfterMs }: AppAnswer): Date =>
  retryAfterMs === undefined
    ? nextTryAt(ctx, attempts, CALL_BACK_OFF)
    : retryAfter(ctx, Math.min(Math.max(retryAfterMs, CALL_BACK_OFF.firstMs * ctx.timeScale), CALL_BACK_OFF.maxMs))

/** The JSON of an answer whose body was asked for; undefined if it is none. */
export function parsedBody({ body = '' }: AppAnswer): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
