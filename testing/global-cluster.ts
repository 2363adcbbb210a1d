import { rm } from 'node:fs/promises'
import pg from 'pg'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { FAULTS_DIR } from './run-directory'
import { NOTE_COMPLETIONS } from './step-completions'
import { NOTE_TRANSITIONS } from './traces'

/** A cluster of its own, from nothing: what its log holds is of this run alone. */
export default async function setup(project: TestProject) {
  await rm(FAULTS_DIR, { recursive: true, force: true })
  const server = await startEmbeddedPostgres({ dataDir: FAULTS_DIR })
  const templateDatabase = 'faults_template'
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${templateDatabase}`)
  const templateUrl = Object.assign(new URL(server.url), { pathname: templateDatabase }).href
  await migrateDeploy(templateUrl)
  const template = new pg.Client({ connectionString: templateUrl })
  await template.connect()
  await template.query(NOTE_COMPLETIONS + NOTE_TRANSITIONS)
  await template.end()
  await admin.query(`ALTER DATABASE ${templateDatabase} WITH ALLOW_CONNECTIONS false`)
  await admin.end()
  project.provide('adminUrl', server.url)
  project.provide('templateDatabase', templateDatabase)
  return () => server.stop()
}
