import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

// The id Prisma's own engine locks, so that `prisma migrate` and starting instances wait for each other.
const PRISMA_LOCK = 72707369

/** Applies what `prisma migrate deploy` would and keeps the same records. Gives the names of the applied migrations. */
export async function migrateDeploy(connectionString: string, directory = 'prisma/migrations'): Promise<string[]> {
  const db = new pg.Client({ connectionString, options: '-c timezone=UTC' })
  const applied: string[] = []
  await db.connect()
  try {
    await db.query(`SELECT pg_advisory_lock(${PRISMA_LOCK})`)
    const { rows: known } = await db.query<{ exists: boolean }>(
      `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
    )
    // A role that may not create tables can start on a database that is up to date.
    if (!known[0]?.exists)
      await db.query(`CREATE TABLE _prisma_migrations (
      id VARCHAR(36) PRIMARY KEY NOT NULL,
      checksum VARCHAR(64) NOT NULL,
      finished_at TIMESTAMPTZ,
      migration_name VARCHAR(255) NOT NULL,
      logs TEXT,
      rolled_back_at TIMESTAMPTZ,
      started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
      applied_steps_count INTEGER NOT NULL DEFAULT 0
    )`)
    const { rows } = await db.query<{ migration_name: string; finished_at: Date | null }>(
      'SELECT migration_name, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
    )
    const failed = rows.find((row) => !row.finished_at)
    if (failed) {
      throw new Error(`Migration ${failed.migration_name} failed earlier: repair it with "prisma migrate resolve".`)
    }
    const done = new Set(rows.map((row) => row.migration_name))
    for (const name of await migrationNames(directory)) {
      if (done.has(name)) continue
      await apply(db, name, await readFile(`${directory}/${name}/migration.sql`, 'utf8'))
      applied.push(name)
    }
  } finally {
    await db.end()
  }
  return applied
}

async function migrationNames(directory: string) {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

async function apply(db: pg.Client, name: string, sql: string) {
  const id = randomUUID()
  const checksum = createHash('sha256').update(sql).digest('hex')
  await db.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', [
    id,
    checksum,
    name,
  ])
  try {
    // Without values the whole file is one implicit transaction.
    await db.query(sql)
  } catch (error) {
    await db.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, String(error)])
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
  await db.query('UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1', [id])
}
