import pg from 'pg'

/** What every session of the service speaks, whatever the server, the database, the role or the URL has for it. */
const SETTINGS = {
  // Prisma's adapter writes times without an offset, and reads them as ISO 8601.
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  // A conditional UPDATE that had to wait looks at the row again, and does not fail.
  default_transaction_isolation: 'read committed',
  // Statements with arrays of values would be planned again on every call, always to the same plan. That plan may come from a time
  // when a table was empty or nothing was due: so it reads a table whole only where no index can be used, and reads what is due in
  // order and does not sort all of it. That no index is read whole is up to the statements (proof/plans.test.ts).
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  // Up to PostgreSQL 17 a plan that cannot do without a switched-off node counts as so expensive that it is compiled, for 100 ms and more.
  jit: 'off',
}

/** Settings of the statements of one kind of session; 0 is no limit. */
export interface TimeLimits {
  statement_timeout: number
  idle_in_transaction_session_timeout: number
}

type Client = pg.ClientBase & { processID: number | null }

/**
 * Set by a statement, not with the connection's start: there the URL's own `options` replace ours, and poolers drop or refuse them.
 * Nothing but this may run on a connection before it.
 */
export async function openSession(client: pg.ClientBase, limits: Partial<TimeLimits> = {}): Promise<void> {
  const values = Object.entries({ ...SETTINGS, ...limits }).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  )
  // What was answered with success outlives a crash of the database, whatever its default is.
  const durable = `set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`
  await client.query(`SELECT ${values.join(', ')}; SELECT ${durable}`)
}

/**
 * Throws, with a sentence for the operator, where what `openSession` has set does not last: behind a pooler that gives each
 * transaction another session of the server, sessions lose their settings, and prepared statements and locks with them.
 */
export async function checkSession(client: pg.ClientBase, connectionString: string): Promise<void> {
  const [pid, lost] = await look(client)
  if (lost) throw new Error(`The database does not keep the session setting ${lost}. ${REMEDY}`)
  // Whoever stands between answers for the session with a number of its own.
  if (pid !== (client as Client).processID && (await isShared(client, connectionString))) {
    throw new Error(
      `The pooler behind DATABASE_URL shares sessions between transactions (transaction pooling). ${REMEDY}`,
    )
  }
}

const REMEDY =
  'The service needs sessions of its own: use session pooling (in PgBouncer pool_mode = session), or connect to PostgreSQL itself.'

async function look(client: pg.ClientBase): Promise<[pid: number, lost: string | undefined]> {
  const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]
  const columns = names.map((name) => `current_setting('${name}') AS "${name}"`)
  const { rows } = await client.query(`SELECT pg_backend_pid() AS pid, ${columns.join(', ')}`)
  return [rows[0].pid, names.find((name) => rows[0][name] !== SETTINGS[name])]
}

/**
 * Two clients that are open side by side, and each keeps its own session of the server, or they do not. A pooler hands out the
 * session that came back last, or the one that has waited longest: the order asks both. Others may be served in between.
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
    // Who is given no second session while the first is open has the first to itself.
    return false
  } finally {
    await second.end().catch(() => {})
  }
}
