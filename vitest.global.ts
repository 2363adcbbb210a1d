import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from './server/local/embedded-postgres'
import { processStamp } from './server/local/process-lock.mjs'
import { migrateDeploy } from './server/migrate'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a superuser, on any database. */
    adminUrl: string
    /** A migrated, empty database to clone; name a clone by replacing the word `template` in it. */
    templateDatabase: string
  }
}

export default async function setup(project: TestProject) {
  const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const server = await startEmbeddedPostgres({ dataDir: process.env.TEST_DATA_DIR ?? path('.data/test') })
  const admin = new pg.Client({ connectionString: server.url })

  const templateDatabase = `test_${process.pid}_template`

  await admin.connect()
  // A worker would wait for the disk half of the time, and no test here stops the machine.
  await admin.query('ALTER SYSTEM SET fsync = off')
  await admin.query('SELECT pg_reload_conf()')
  await dropTestDatabases(admin, (pid) => pid === process.pid || processStamp(pid) === null)
  await admin.query(`CREATE DATABASE ${templateDatabase}`)
  await migrateDeploy(
    Object.assign(new URL(server.url), { pathname: templateDatabase }).href,
    path('prisma/migrations'),
  )
  // A database with a connection cannot be cloned.
  await admin.query(`ALTER DATABASE ${templateDatabase} WITH ALLOW_CONNECTIONS false`)
  project.provide('adminUrl', server.url)
  project.provide('templateDatabase', templateDatabase)

  return async () => {
    await dropTestDatabases(admin, (pid) => pid === process.pid)
    await admin.end()
    await server.stop()
  }
}

/** The number in the name is the process whose run made the database; several runs may share the server. */
async function dropTestDatabases(admin: pg.Client, isStale: (pid: number) => boolean) {
  const { rows } = await admin.query<{ datname: string }>(
    `SELECT datname FROM pg_database WHERE datname ~ '^test_[0-9]+_'`,
  )
  for (const { datname } of rows) {
    if (isStale(Number(datname.split('_')[1]))) await admin.query(`DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`)
  }
}
