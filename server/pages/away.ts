import { isDatabaseAway } from '../adapters/database-away'
import { logPageError } from '../watch/page-error'
import { AWAY_DIGEST } from './away-digest'

/** Reads what a page needs. Without the database, the error page says that the service cannot reach its data. */
export const orDatabaseAwayPage = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error) => {
    throw isDatabaseAway(error) ? Object.assign(error, { digest: AWAY_DIGEST }) : error
  })

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
