import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import type { TestContext } from 'vitest'
import { Application, type Script } from './application'
import { createDatabase } from './database'
import { Instance, type StartOptions } from './instance'
import { MailServer } from './mail-server'
import { Operator } from './operator'
import { FAULTS_DIR } from './run-directory'
import { until } from './until'

export const KEYS = {
  AUTH_SECRET: 'auth-secret-of-the-fault-tests',
  CODE_SECRET: 'code-secret-of-the-fault-tests',
}

export const WORLD_SETTINGS = {
  ...KEYS,
  // The last step is due after 4 s, the seven days are over after 30 s.
  WITHDRAWAL_TIME_SCALE: '0.00005',
  // 7 s
  WITHDRAWAL_RETENTION: 'P1DT15H',
  // The instances of all files share the hundred connections of one PostgreSQL.
  DATABASE_CONNECTIONS: '6',
}

/** The environment of one test: a database, a data directory, a mail server, applications, an operator and instances. */
export type World = Awaited<ReturnType<typeof givenWorld>>

interface Place {
  databaseUrl: string
  postgresLogs: string[]
  /** The folder of the build whose operator command is run. */
  release?: string
}

/** `place`: a database on a server of the test's own; else a new one in the cluster of all tests. */
export async function givenWorld(
  test: Pick<TestContext, 'onTestFinished'>,
  settings: Record<string, string> = {},
  place?: Place,
) {
  const dataDir = path.join(FAULTS_DIR, `world-${randomBytes(6).toString('hex')}`)
  await mkdir(dataDir, { recursive: true })
  const own: Place = place ?? { databaseUrl: await createDatabase(), postgresLogs: [FAULTS_DIR] }
  const { databaseUrl, postgresLogs, release } = own
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2, connectionTimeoutMillis: 20_000 })
  pool.on('error', () => {})
  const mail = await MailServer.start()
  const common = { ...WORLD_SETTINGS, DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SMTP_URL: mail.url, ...settings }
  const world = {
    databaseUrl,
    dataDir,
    postgresLogs: postgresLogs.map((directory) => path.join(directory, 'pg.log')),
    mail,
    operator: new Operator(common, release),
    applications: [] as Application[],
    instances: [] as Instance[],
    query: async <Row extends object>(text: string, values?: unknown[]): Promise<Row[]> =>
      (await pool.query(text, values)).rows,
    async start(more: Record<string, string> = {}, options?: StartOptions): Promise<Instance> {
      const instance = await Instance.start({ ...common, ...more }, options)
      world.instances.push(instance)
      return instance
    },
    async givenApplication(name: string, script?: Script): Promise<Application> {
      const application = await Application.start(name, script)
      world.applications.push(application)
      return application
    },
  }
  test.onTestFinished(async () => {
    await Promise.all(world.instances.map((instance) => instance.isRunning && instance.kill()))
    for (const application of world.applications) application.stop()
    await world.operator.close()
    await mail.goAway()
    await pool.end()
  })
  return world
}

/** A connection of the test's own that holds the locks of `text` until the function it returns is called. */
export async function holdLock(world: World, text: string, values: unknown[]): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: world.databaseUrl })
  await client.connect()
  await client.query('BEGIN')
  const { rowCount } = await client.query(text, values)
  if (!rowCount) throw new Error('there was no row to lock')
  return async () => {
    await client.query('ROLLBACK')
    await client.end()
  }
}

/** Whether so many statements that contain this text wait for a lock. */
export const isBlocked = async (world: World, statement: string, times = 1): Promise<boolean> => {
  const rows = await world.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
    [`%${statement}%`],
  )
  return rows.length >= times
}

export const untilNothingWaitsToBeSent = (world: World): Promise<boolean> =>
  until('nothing waits to be sent', async () => {
    const rows = await world.query('SELECT FROM notices WHERE due_at IS NOT NULL')
    return rows.length === 0
  })

/** Whether the withdrawal has a time in this column. */
export async function isMarked(world: World, id: string, column: 'completed_at' | 'purged_at'): Promise<boolean> {
  const rows = await world.query(`SELECT FROM withdrawals WHERE id = $1 AND ${column} IS NOT NULL`, [id])
  return rows.length === 1
}
