import { createHmac } from 'node:crypto'

/** The signature of Standard Webhooks, written a second time, so that no test depends on the code under test. */
export function webhookSignature(secret: string, id: unknown, at: unknown, body: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`
}

/** The signature that a call should have. */
export const signatureOf = (
  { headers, body }: { headers: Record<string, unknown>; body: string },
  secret: string,
): string => webhookSignature(secret, headers['webhook-id'], headers['webhook-timestamp'], body)
