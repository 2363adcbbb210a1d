import { createHmac } from 'node:crypto'
import type { SystemContext } from '../context'
import { MAX_CALL_BACK_OFF_MS, MIN_CALL_BACK_OFF_MS, second } from '../limits/durations'
import type { AppAnswer } from '../ports'

export interface Webhook {
  /** Stable over all tries: the receiver's key for recognising a repetition. */
  id: string
  endpoint: string
  sealedSecret: Buffer
  body: string
}

/** One attempt, signed by the symmetric scheme v1 of Standard Webhooks. */
export async function sendWebhook(
  ctx: SystemContext,
  { id, endpoint, sealedSecret, body }: Webhook,
): Promise<AppAnswer> {
  const secret = ctx.secrets.open(sealedSecret)
  if (!secret) return { status: 0, problem: 'no configured key opens its signing secret' }
  return ctx.callApp({ endpoint, headers: signedHeaders(id, ctx.clock.now(), body, secret.toString()), body })
}

/** An application that no longer has the person counts as told. */
export const isTold = ({ status }: AppAnswer) => (status >= 200 && status < 300) || status === 404 || status === 410

function signedHeaders(id: string, at: Date, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / second))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

/** Doubles up to the maximum, plus up to a quarter at random. A `Retry-After` of the application comes first, within the same bounds. */
export function backOffMs(ctx: SystemContext, attempts: number, { retryAfterMs }: AppAnswer): number {
  const shortest = MIN_CALL_BACK_OFF_MS * ctx.timeScale
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, shortest), MAX_CALL_BACK_OFF_MS)
  const doubled = shortest * 2 ** Math.min(attempts - 1, 20) * (1 + Math.random() / 4)
  return Math.min(doubled, MAX_CALL_BACK_OFF_MS * ctx.timeScale)
}
