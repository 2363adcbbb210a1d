import type { IncomingMessage } from 'node:http'
import { parseAndValidateFlightRouterState } from 'next/dist/server/app-render/parse-and-validate-flight-router-state.js'

/**
 * Takes out what Next or next-auth would answer with a 500, or print into the log word for word: no page has a server action,
 * a router state that cannot be read asks for the whole page like none, and the sign-in page knows itself where to go after it.
 */
export function cleanPageRequest(incoming: Pick<IncomingMessage, 'headers' | 'url'>): void {
  const { headers } = incoming
  if (incoming.url?.startsWith('/api/auth/')) {
    incoming.url = incoming.url.replaceAll(/(?<=[?&])callbackUrl=[^&]*&?/gi, '')
  }
  if (headers.cookie)
    headers.cookie = headers.cookie.replaceAll(/(?<=^|; ?)[\w-]*next-auth\.callback-url=[^;]*(?:; ?|$)/g, '')
  delete headers['next-action']
  if (/^multipart\//i.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
  try {
    parseAndValidateFlightRouterState(headers['next-router-state-tree'])
  } catch {
    delete headers['next-router-state-tree']
  }
}
