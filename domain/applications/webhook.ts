import { createHmac } from 'node:crypto'
import type { SystemContext } from '../context'
import type { AppAnswer } from '../ports'

const SECOND = 1000
const FIRST_WAIT_MS = 5 * SECOND
const LONGEST_WAIT_MS = 24 * 60 * 60 * SECOND

/** Longer than a call may take. */
export const CALL_LEASE_MS = 20 * SECOND

export interface Webhook {
  /** Stable over all tries: the receiver's key for recognising a repetition. */
  id: string
  endpoint: string
  sealedSecret: Buffer
  body: string
}

/** One try, signed as Standard Webhooks has it (symmetric, v1). */
export async function sendWebhook(
  ctx: SystemContext,
  { id, endpoint, sealedSecret, body }: Webhook,
): Promise<AppAnswer> {
  const secret = ctx.secrets.open(sealedSecret)
  if (!secret) return { status: 0, problem: 'no configured key opens its signing secret' }
  return ctx.callApp({ endpoint, headers: signedHeaders(id, ctx.clock.now(), body, secret.toString()), body })
}

/** Gone at the application is as good as told. */
export const isTold = ({ status }: AppAnswer) => (status >= 200 && status < 300) || status === 404 || status === 410

function signedHeaders(id: string, at: Date, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / SECOND))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

/** Doubles from 5 s to a day, with up to a quarter more at random. What the application asks for comes first, but for less than 5 s. */
export function backOffMs(ctx: SystemContext, attempts: number, { retryAfterMs }: AppAnswer): number {
  const shortest = FIRST_WAIT_MS * ctx.timeScale
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, shortest), LONGEST_WAIT_MS)
  const doubled = shortest * 2 ** Math.min(attempts - 1, 20) * (1 + Math.random() / 4)
  return Math.min(doubled, LONGEST_WAIT_MS * ctx.timeScale)
}
