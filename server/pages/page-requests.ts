import type { IncomingMessage } from 'node:http'
import { parseAndValidateFlightRouterState } from 'next/dist/server/app-render/parse-and-validate-flight-router-state.js'
import { cookiesOfAttempt } from './provider-attempts'

/** Where a link leads whose `#` came as `%23`, as some mail programs send it; null for any other. */
export function pageOfEncodedFragment({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): string | null {
  const [, page, fragment] = /^(\/(?!api\/|\/)[\w/-]*)%23(.+)$/.exec(url) ?? []
  return method === 'GET' && page ? `${page}#${fragment}` : null
}

/**
 * Removes the parts of a request that make Next or next-auth answer 500, or log them word for word: server actions (no page has one),
 * an invalid router state (the whole page is sent without one) and callback URLs (the sign-in page does not need them).
 */
export function cleanPageRequest(incoming: Pick<IncomingMessage, 'headers' | 'url'>): void {
  const { headers } = incoming
  if (incoming.url?.startsWith('/api/auth/')) {
    incoming.url = incoming.url.replaceAll(/(?<=[?&])callbackUrl=[^&]*&?/gi, '')
  }
  if (headers.cookie)
    headers.cookie = headers.cookie.replaceAll(/(?<=^|; ?)[\w-]*next-auth\.callback-url=[^;]*(?:; ?|$)/g, '')
  if (headers.cookie) headers.cookie = cookiesOfAttempt(incoming.url ?? '', headers.cookie)
  delete headers['next-action']
  if (/^multipart\//i.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
  try {
    parseAndValidateFlightRouterState(headers['next-router-state-tree'])
  } catch {
    delete headers['next-router-state-tree']
  }
}
