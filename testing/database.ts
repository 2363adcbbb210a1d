import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { runAt } from './raw-sql'

/** The URL of a new database, which is migrated, or a copy of another template. */
export async function createDatabase(template = inject('templateDatabase')): Promise<string> {
  const name = inject('templateDatabase').replace('template', randomBytes(6).toString('hex'))
  await runAt(inject('adminUrl'), `CREATE DATABASE ${name} TEMPLATE ${template}`)
  return Object.assign(new URL(inject('adminUrl')), { pathname: name }).href
}

/** Connections that are opened from now on have these settings. The returned function takes them back. */
export async function setDatabase(url: string, settings: Record<string, string>): Promise<() => Promise<void>> {
  const database = `ALTER DATABASE ${new URL(url).pathname.slice(1)}`
  await runAt(url, ...Object.entries(settings).map(([name, value]) => `${database} SET ${name} = '${value}'`))
  return () => runAt(url, `${database} RESET ALL`)
}
