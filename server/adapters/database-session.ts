import pg from 'pg'

/** The settings of every session, whatever the server, the database, the role or the URL says. */
const SETTINGS = {
  // Prisma's adapter writes times without an offset, and reads them as ISO 8601.
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  // A conditional UPDATE that waited for a row checks its condition again and does not fail.
  default_transaction_isolation: 'read committed',
  // Keep one generic plan for each statement: statements with arrays would be planned again on every call, always to the same plan.
  // The plan may be made while a table is empty or nothing is due, so the planner must not choose sequential or bitmap scans.
  // proof/checks/plans.test.ts checks that no statement reads a whole index.
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  // Up to PostgreSQL 17 a plan with a disabled node counts as so expensive that PostgreSQL compiles it, which takes 100 ms and more.
  jit: 'off',
}

/** Timeouts of one kind of session in milliseconds; 0 is no limit. */
interface TimeLimits {
  statement_timeout: number
  idle_in_transaction_session_timeout: number
}

type Client = pg.ClientBase & { processID: number | null }

/**
 * Sets the session's settings by a statement. As options of the connection, the URL's own `options` would replace them, and poolers drop
 * or refuse them. It must be the first statement on a connection.
 */
export async function openSession(client: pg.ClientBase, limits: Partial<TimeLimits> = {}): Promise<void> {
  const values = Object.entries({ ...SETTINGS, ...limits }).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  )
  // Commits wait for the disk whatever the default is, so that what was answered with success survives a crash.
  const durable = `set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`
  await client.query(`SELECT ${values.join(', ')}; SELECT ${durable}`)
}

/**
 * Throws, with a sentence for the operator, when settings of the session do not last. Behind a pooler in transaction mode they do not, and
 * neither do prepared statements and session locks.
 */
export async function checkSession(client: pg.ClientBase, connectionString: string): Promise<void> {
  const [pid, lost] = await readSession(client)
  if (lost) throw new Error(`The database does not keep the session setting ${lost}. ${REMEDY}`)
  // A different id shows that a pooler stands between.
  if (pid !== (client as Client).processID && (await isShared(client, connectionString))) {
    throw new Error(
      `The pooler behind DATABASE_URL shares sessions between transactions (transaction pooling). ${REMEDY}`,
    )
  }
}

const REMEDY =
  'The service needs sessions of its own: use session pooling (in PgBouncer pool_mode = session), or connect to PostgreSQL itself.'

async function readSession(client: pg.ClientBase): Promise<[pid: number, lost: string | undefined]> {
  const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]
  const columns = names.map((name) => `current_setting('${name}') AS "${name}"`)
  const { rows } = await client.query(`SELECT pg_backend_pid() AS pid, ${columns.join(', ')}`)
  return [rows[0].pid, names.find((name) => rows[0][name] !== SETTINGS[name])]
}

/**
 * Whether two open clients share server sessions. A pooler hands out the session that was returned last, or the one that is idle longest;
 * this order of queries detects both. Several rounds are needed because other clients may be served in between.
 */
async function isShared(first: pg.ClientBase, connectionString: string): Promise<boolean> {
  const second = new pg.Client({ connectionString, query_timeout: 2_000, connectionTimeoutMillis: 2_000 })
  second.on('error', () => {})
  const pidOf = async (client: pg.ClientBase) => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
  try {
    await second.connect()
    for (let round = 0; round < 3; round++) {
      const [a, b, sameB, sameA] = [await pidOf(first), await pidOf(second), await pidOf(second), await pidOf(first)]
      if (a === b || b !== sameB || a !== sameA) return true
    }
    return false
  } catch {
    // If no second session is available while the first is open, the first is not shared.
    return false
  } finally {
    await second.end().catch(() => {})
  }
}
