import { isDatabaseAway, tlsAdvice } from './adapters/database-away'
import { startEmbeddedPostgres } from './local/embedded-postgres'
import { migrateDeploy } from './migrate'
import { type Env, setDatabaseUrl } from './settings/env'
import { SettingsError } from './settings/settings-error'
import { log } from './watch/log'

/** Starts the embedded database where no other is set, and migrates whichever it is. `closers` gets what ends it again. */
export async function prepareDatabase(
  { databaseUrl, dataDir }: Pick<Env, 'databaseUrl' | 'dataDir'>,
  closers: (() => Promise<unknown>)[],
) {
  let url = databaseUrl
  if (url === undefined) {
    const starting = startEmbeddedPostgres({ dataDir })
    // Before it has started, because a signal may come meanwhile.
    closers.push(() =>
      starting.then(
        ({ stop }) => stop(),
        () => {},
      ),
    )
    const postgres = await starting
    url = postgres.url
    setDatabaseUrl(url)
    postgres.keepAlive((event, sentence) =>
      log()[event === 'started' ? 'warn' : 'error']({ event: `own_postgres_${event}`, hint: sentence }),
    )
  }
  await migrateDeploy(url, undefined, { onWaiting: (facts) => log().warn(facts) }).catch((error) => {
    throw databaseUrl && isDatabaseAway(error) ? new SettingsError(unreachable(databaseUrl, error)) : error
  })
}

/** The address without user and password. */
function unreachable(databaseUrl: string, error: Error): string {
  const { host, pathname } = new URL(databaseUrl)
  // The errors of several addresses have no message of their own.
  const reason = error.message || (error instanceof AggregateError && error.errors[0]?.message)
  const ofTls = tlsAdvice(error)
  // After a semicolon Node advises how to run Node.
  const known = ofTls ? String(reason).split(';', 1) : reason
  return `DATABASE_URL: no connection to ${host}${pathname}: ${known}. ${ofTls ?? 'Start this PostgreSQL, or correct the address, the user or the password.'}`
}
