import { logEventOf } from '../adapters/database-away'
import { processState } from '../process-state'
import { describeError, log } from './log'

let lastWithoutDatabase: string | undefined

/**
 * Logs one line for a page that failed, because Next would print the error, which may quote an address. `page` has no ids. While the
 * database is away each part of a page fails, and one line says so.
 */
export function logPageError(error: unknown, page: string): void {
  const event = logEventOf(error)
  if (event === 'database_away') {
    const requestId = processState.currentRequestId.getStore()
    if (requestId !== undefined && requestId === lastWithoutDatabase) return
    lastWithoutDatabase = requestId
  }
  const digest = error instanceof Error && 'digest' in error ? String(error.digest) : undefined
  log().error({ event, page, digest, ...describeError(error) })
}
