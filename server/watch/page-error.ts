import { logEventOf } from '../adapters/database-away'
import { describeError, log } from './log'

/** Logs one line for a page that failed, because Next would print the error, which may quote an address. `page` has no ids. */
export function logPageError(error: unknown, page: string): void {
  const digest = error instanceof Error && 'digest' in error ? String(error.digest) : undefined
  log().error({ event: logEventOf(error), page, digest, ...describeError(error) })
}
