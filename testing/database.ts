import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { runAt } from './raw-sql'

/** The URL of a new database, which is migrated, or a copy of another template. */
export async function createDatabase(template = inject('templateDatabase')): Promise<string> {
  const name = inject('templateDatabase').replace('template', randomBytes(6).toString('hex'))
  await runAt(inject('adminUrl'), `CREATE DATABASE ${name} TEMPLATE ${template}`)
  return Object.assign(new URL(inject('adminUrl')), { pathname: name }).href
}

/** A connection of one test, which knows nothing of the service's settings. It ends with the test. */
export async function openClient(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Connections that are opened from now on have these settings. The returned function takes them back. */
export async function setDatabase(url: string, settings: Record<string, string>): Promise<() => Promise<void>> {
  const database = `ALTER DATABASE ${new URL(url).pathname.slice(1)}`
  await runAt(url, ...Object.entries(settings).map(([name, value]) => `${database} SET ${name} = '${value}'`))
  return () => runAt(url, `${database} RESET ALL`)
}
