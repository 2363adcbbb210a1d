import { rm } from 'node:fs/promises'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { runAt } from './raw-sql'
import { FAULTS_DIR } from './run-directory'
import { NOTE_COMPLETIONS } from './step-completions'
import { NOTE_TRANSITIONS } from './traces'

/** A new cluster for each run, so that its log holds nothing of another run. */
export default async function setup(project: TestProject) {
  await rm(FAULTS_DIR, { recursive: true, force: true })
  const server = await startEmbeddedPostgres({ dataDir: FAULTS_DIR })
  const templateDatabase = 'faults_template'
  await runAt(server.url, `CREATE DATABASE ${templateDatabase}`)
  const templateUrl = Object.assign(new URL(server.url), { pathname: templateDatabase }).href
  await migrateDeploy(templateUrl)
  await runAt(templateUrl, NOTE_COMPLETIONS + NOTE_TRANSITIONS)
  await runAt(server.url, `ALTER DATABASE ${templateDatabase} WITH ALLOW_CONNECTIONS false`)
  project.provide('adminUrl', server.url)
  project.provide('templateDatabase', templateDatabase)
  return () => server.stop()
}
