import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Env, getEnv } from '../env'

/**
 * Hardening of every page. Next finds the nonce in the request's own policy header and puts it on its scripts,
 * so the header goes both ways.
 */
export function hardenPage(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  env: Pick<Env, 'appUrl' | 'hstsIncludeSubDomains'>,
): void {
  const nonce = randomBytes(16).toString('base64')
  const policy = contentSecurityPolicy(nonce, incoming.url ?? '')
  incoming.headers['content-security-policy'] = policy
  const headers: Record<string, string> = {
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    ...strictTransport(env.appUrl, env),
    // Pages and their files say so themselves.
    ...(incoming.url?.startsWith('/api/') && { 'Cache-Control': 'no-store' }),
  }
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value)
}

/** Where the service is reached by https, it is never again asked without. Never `preload`: that binds the whole domain for years. */
export function strictTransport(
  appUrl: string,
  env: Pick<Env, 'hstsIncludeSubDomains'> = getEnv(),
): Record<string, string> {
  if (!appUrl.startsWith('https:')) return {}
  const scope = env.hstsIncludeSubDomains ? '; includeSubDomains' : ''
  return { 'Strict-Transport-Security': `max-age=63072000${scope}` }
}

function contentSecurityPolicy(nonce: string, url: string): string {
  // The frame that shows a message inherits this policy, and mails are styled inline. Local mode only.
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
