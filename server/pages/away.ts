import { isDatabaseAway } from '../adapters/database-away'
import { logPageError } from '../watch/page-error'
import { AWAY_DIGEST } from './away-digest'

/** Reads what a page needs. Without the database, the error page says that the service cannot reach its data. */
export const orDatabaseAwayPage = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error) => {
    throw isDatabaseAway(error) ? Object.assign(error, { digest: AWAY_DIGEST }) : error
  })

/** Reads what a page can do without. */
export const unlessAway = <T, Instead>(read: Promise<T>, instead: Instead): Promise<T | Instead> =>
  read.catch((error) => {
    if (!isDatabaseAway(error)) throw error
    logPageError(error, 'without the database')
    return instead
  })
