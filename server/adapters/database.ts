import 'server-only'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Transact, Transacted } from '@/domain/context'
import { orderedValues, type Sql } from '@/domain/sql'
import { PrismaClient } from '@/prisma/generated/client'
import { processState } from '../process-state'
import { describeError, log, outsideRequest } from '../watch/log'
import { isContended } from './database-away'
import { openSession } from './database-session'

export interface Database {
  sql: Sql
  /** Rolls back when `work` throws. After a deadlock `work` runs again, and what the failed attempt asked for is forgotten. */
  transact: Transact
  db: PrismaClient
  ping(): Promise<unknown>
  close(): Promise<void>
}

const TIME_LIMITS = {
  // A statement that waits for a row lock, or for a silent server, ends within five seconds.
  statement_timeout: 4_000,
  // The database ends the transaction of an instance that hangs, so that its row locks are released.
  idle_in_transaction_session_timeout: 10_000,
}

/** The name of the connections in pg_stat_activity; one in the URL wins. */
const application_name = 'user-account-service'

const MAX_PING_MS = 2_000

interface DatabaseOptions {
  /** Runs on each new connection before it serves, and refuses it by throwing. */
  admit?: (sql: Sql) => Promise<void>
  /** Runs when a connection has ended that was not ended here. */
  onLoss?: () => void
  timeLimits?: Partial<typeof TIME_LIMITS>
  /** Multiplies each wait, because the machine of the tests may be busy. */
  patience?: number
}

/** Prisma and the named statements share one pool. */
export function openDatabase(
  connectionString: string,
  connections = 8,
  { admit, onLoss, timeLimits, patience = 1 }: DatabaseOptions = {},
): Database {
  // An outage ends every connection, and is one line.
  let isLossLogged = false
  const pool = new pg.Pool({
    connectionString,
    application_name,
    max: connections,
    connectionTimeoutMillis: 3_000 * patience,
    // Keep connections, because a new one costs the database tens of milliseconds for sign-in and planning.
    idleTimeoutMillis: 300_000,
    query_timeout: 4_500 * patience,
    keepAlive: true,
    keepAliveInitialDelayMillis: 60_000,
    // Statements of a transaction that do not need each other's rows share a round trip. They run in order, and after one that fails
    // the database refuses the rest.
    pipeline: true,
    // The pool waits for this before it hands out the connection.
    onConnect: async (client) => {
      let isLost = false
      // Without a handler, the loss of a connection would end the process. An end is told after its reason.
      client.on('error', (error) => {
        // Nobody misses it at the end: Ctrl-C in a terminal ends the service and its PostgreSQL together.
        if (isLost || pool.ending || processState.isStopping) return
        isLost = true
        onLoss?.()
        if (!isLossLogged) noteLoss(error)
        isLossLogged = true
      })
      const { statement_timeout } = TIME_LIMITS
      await openSession(client, { ...TIME_LIMITS, statement_timeout: statement_timeout * patience, ...timeLimits })
      await admit?.(sqlOn(client))
      isLossLogged = false
    },
  })
  // The connection has told it itself.
  pool.on('error', () => {})
  const pings = new pg.Pool({
    connectionString,
    application_name,
    max: 1,
    connectionTimeoutMillis: MAX_PING_MS,
    query_timeout: MAX_PING_MS,
    idleTimeoutMillis: 300_000,
  })
  // The next ping reports it.
  pings.on('error', () => {})
  const db = new PrismaClient({ adapter: new PrismaPg(pool) })
  const sql = sqlOn(pool)
  return {
    sql: (statement, given) => untilUncontended(() => sql(statement, given)),
    transact: (work) => untilUncontended(() => transact(pool, work)),
    db,
    ping: () => pings.query('SELECT 1'),
    close: async () => {
      await db.$disconnect()
      await Promise.all([pool.end(), pings.end()])
    },
  }
}

async function transact<T>(pool: pg.Pool, work: (...of: Transacted) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const sql = sqlOn(client)
  const effects: (() => void)[] = []
  let isOver = false
  let failure: unknown
  let result: T
  try {
    const inside: Sql = async (statement, given) => {
      // Work that is over may still have a branch that goes on, and the connection then belongs to somebody else.
      if (isOver) throw new Error('the transaction is over')
      writeTogether(client)
      // After a statement that failed the database refuses the rest. Whichever is heard of first, only the first one says why.
      return sql(statement, given).catch((error) => {
        failure ??= error
        throw failure
      })
    }
    writeTogether(client)
    const [, done] = await Promise.all([client.query('BEGIN'), work(inside, (effect) => effects.push(effect))])
    isOver = true
    await client.query('COMMIT')
    result = done
  } catch (error) {
    isOver = true
    // Destroy a connection that did not answer or cannot roll back.
    if (error instanceof Error && error.message === 'Query read timeout') client.release(true)
    else {
      await client.query('ROLLBACK').then(
        () => client.release(),
        () => client.release(true),
      )
    }
    throw error
  }
  client.release()
  for (const effect of effects) effect()
  return result
}

/** Statements that are asked for in one go leave in one packet: a packet costs Node and PostgreSQL more than most statements. */
function writeTogether({ connection: { stream } }: pg.Client) {
  stream.cork()
  process.nextTick(() => stream.uncork())
}

const MAX_TRIES = 4

/** Repeats what the database rolled back because another transaction was in its way. By then that one goes on, so no pause is needed. */
async function untilUncontended<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === MAX_TRIES || !isContended(error)) throw error
    }
  }
}

// A connection keeps the async context of the request that opened it, so the request id must not be logged here.
const noteLoss = (error: Error) =>
  outsideRequest(() => log().warn({ event: 'database_connection_lost', ...describeError(error) }))

const sqlOn =
  (connection: pg.Pool | pg.ClientBase): Sql =>
  async (statement, given) => {
    const { name, text, timeoutMs } = statement
    const query = { name, text, values: orderedValues(statement, given), query_timeout: timeoutMs }
    return (await connection.query(query)).rows
  }
