import type { IncomingMessage } from 'node:http'
import { parseAndValidateFlightRouterState } from 'next/dist/server/app-render/parse-and-validate-flight-router-state.js'

/**
 * Takes out what Next would answer with a 500, or print into the log word for word: no page has a server action,
 * and a router state that cannot be read asks for the whole page like none.
 */
export function cleanPageRequest({ headers }: Pick<IncomingMessage, 'headers'>): void {
  delete headers['next-action']
  if (/^multipart\//i.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/octet-stream'
  try {
    parseAndValidateFlightRouterState(headers['next-router-state-tree'])
  } catch {
    delete headers['next-router-state-tree']
  }
}
