import type { ServerResponse } from 'node:http'
import { isDatabaseAway } from '../adapters/database-away'
import { processState } from '../process-state'
import { logPageError } from '../watch/page-error'
import { AWAY_DIGEST } from './away-digest'

/** Reads what a page needs. Without the database, the error page says that the service cannot reach its data. */
export const orDatabaseAwayPage = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error) => {
    if (!isDatabaseAway(error)) throw error
    processState.awayHandlers.get(processState.currentRequestId.getStore() ?? '')?.()
    throw Object.assign(error, { digest: AWAY_DIGEST })
  })

/** Next answers 500 whatever a page throws. While the database is away the page is to be asked for again, as the API says too. */
export function answer503WhileAway(outgoing: ServerResponse, requestId: string): void {
  const { awayHandlers } = processState
  let isAway = false
  awayHandlers.set(requestId, () => {
    isAway = true
  })
  const writeHead = outgoing.writeHead.bind(outgoing) as (status: number, ...rest: unknown[]) => ServerResponse
  outgoing.writeHead = (status: number, ...rest: unknown[]) => {
    const isToComeAgain = isAway && status === 500
    if (isToComeAgain) outgoing.setHeader('Retry-After', '5')
    return writeHead(isToComeAgain ? 503 : status, ...rest)
  }
  outgoing.once('close', () => awayHandlers.delete(requestId))
}

/** A frozen database answers nobody, and its own time limits are longer. */
const MAX_WAIT_MS = 3_000

/** Reads what a page can do without, and does not wait for it long. */
export async function unlessAway<T, Instead>(read: Promise<T>, instead: Instead): Promise<T | Instead> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    const late = Object.assign(new Error('The database does not answer.'), { code: 'ETIMEDOUT' })
    timer = setTimeout(() => reject(late), MAX_WAIT_MS)
  })
  try {
    return await Promise.race([read, limit])
  } catch (error) {
    if (!isDatabaseAway(error)) throw error
    logPageError(error, 'without the database')
    return instead
  } finally {
    clearTimeout(timer)
  }
}
