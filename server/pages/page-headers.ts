import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { strictTransport } from '../http/strict-transport'
import type { Env } from '../settings/env'

/** Mails show the logo, and pages of an adopter see whether the service is there. */
const SHOWN_ELSEWHERE = ['/brand/logo', '/api/health/ready']

/**
 * Sets the security headers of every page. The policy is set on the request too, because Next reads the nonce for its scripts there.
 */
export function hardenPage(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  env: Pick<Env, 'appUrl' | 'hstsCoversSubdomains'>,
): void {
  const nonce = randomBytes(16).toString('base64')
  const policy = contentSecurityPolicy(nonce, incoming.url ?? '')
  incoming.headers['content-security-policy'] = policy
  const headers: Record<string, string> = {
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': SHOWN_ELSEWHERE.includes(incoming.url ?? '') ? 'cross-origin' : 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    ...strictTransport(env.appUrl, env),
    // Pages and static files set Cache-Control themselves.
    ...(incoming.url?.startsWith('/api/') && { 'Cache-Control': 'no-store' }),
  }
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value)
}

function contentSecurityPolicy(nonce: string, url: string): string {
  // The mailbox (local mode only) shows mails in a frame that inherits this policy, and mails have inline styles.
  const styles = url.startsWith('/dev/mailbox') ? "'self' 'unsafe-inline'" : `'self' 'nonce-${nonce}'`
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src ${styles}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
