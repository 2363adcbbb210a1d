import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { orderedValues, type Sql } from '@/domain/sql'
import { PrismaClient } from '@/prisma/generated/client'
import { describeError, log, outsideRequest } from '../watch/log'
import { openSession } from './database-session'

export interface Database {
  sql: Sql
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  db: PrismaClient
  close(): Promise<void>
}

const TIME_LIMITS = {
  // A statement that waits for a row, or for a server that has gone silent, ends within five seconds.
  statement_timeout: 4_000,
  // An instance that stands still in the middle of a transaction lets go of its rows.
  idle_in_transaction_session_timeout: 10_000,
}

/** Prisma and the named statements share one pool. */
export function openDatabase(connectionString: string, connections = 8): Database {
  const pool = new pg.Pool({
    connectionString,
    max: connections,
    connectionTimeoutMillis: 3_000,
    // A new connection costs its sign-in, and every statement its plan: tens of milliseconds of the database's time.
    idleTimeoutMillis: 300_000,
    query_timeout: 4_500,
    keepAlive: true,
    keepAliveInitialDelayMillis: 60_000,
    // The pool gives the connection out only once this has come through.
    onConnect: (client) => openSession(client, TIME_LIMITS),
  })
  pool.on('error', noteLoss)
  const db = new PrismaClient({ adapter: new PrismaPg(pool) })
  return {
    sql: sqlOn(pool),
    async transaction(work) {
      const client = await pool.connect()
      // The pool listens to idle connections only, and a loss that nobody listens to would end the process.
      client.on('error', noteLoss)
      const release = (isBroken: boolean) => {
        client.off('error', noteLoss)
        client.release(isBroken)
      }
      try {
        await client.query('BEGIN')
        const result = await work(sqlOn(client))
        await client.query('COMMIT')
        release(false)
        return result
      } catch (error) {
        // A connection that has not answered, or cannot roll back, is of no further use.
        if (error instanceof Error && error.message === 'Query read timeout') release(true)
        else {
          await client.query('ROLLBACK').then(
            () => release(false),
            () => release(true),
          )
        }
        throw error
      }
    },
    db,
    close: async () => {
      await db.$disconnect()
      await pool.end()
    },
  }
}

// A connection remembers the request that opened it, long after.
const noteLoss = (error: Error) =>
  outsideRequest(() => log().warn({ event: 'database_connection_lost', ...describeError(error) }))

const sqlOn =
  (connection: pg.Pool | pg.PoolClient): Sql =>
  async (statement, given) => {
    const { name, text, timeoutMs } = statement
    const query = { name, text, values: orderedValues(statement, given), query_timeout: timeoutMs }
    return (await connection.query(query)).rows
  }
