import { isForPages } from '@/contract/define'
import { systemContext } from '../system-context'

const EXPOSED_HEADERS = ['Location', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate']
const ACCEPTED_HEADERS = ['Authorization', 'Content-Type', 'X-Required-Scope', 'Idempotency-Key']
const PAGE_METHODS = ['GET', 'HEAD', 'POST', 'DELETE']

/**
 * The headers by which pages of allowed origins may read an answer. No cookie opens the API, so credentials are never allowed; other
 * paths get no header.
 */
export function originHeaders({ url, headers }: Request): Record<string, string> {
  if (!isForPages(new URL(url).pathname.replace(/^\/api\/v1/, ''))) return {}
  const origin = headers.get('Origin')
  if (origin === null || !systemContext().allowedOrigins.includes(origin)) return { Vary: 'Origin' }
  return {
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
  }
}

/** The answer to the preflight of an allowed origin. It does not depend on the operation, so that the page can read every refusal. */
export function answerPreflight(request: Request): Response | undefined {
  if (request.method !== 'OPTIONS' || !request.headers.has('Access-Control-Request-Method')) return undefined
  const { 'Access-Control-Expose-Headers': _, ...headers } = originHeaders(request)
  if (!headers['Access-Control-Allow-Origin']) return undefined
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      'Access-Control-Allow-Methods': PAGE_METHODS.join(', '),
      'Access-Control-Allow-Headers': ACCEPTED_HEADERS.join(', '),
      'Access-Control-Max-Age': '600',
    },
  })
}
