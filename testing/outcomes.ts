import { expect } from 'vitest'
import type { Transacted } from '@/domain/context'
import type { TestContext } from './domain'
import { rawSql } from './raw-sql'
import { atStatement } from './statements'

// How calls end, also those that wait for each other or fail, and what they leave in the database.

/** How many places of this limit are taken. */
export const placesTaken = async ({ db }: Pick<TestContext, 'db'>, { key }: { key: string }): Promise<number> =>
  (await db.rateLimit.findUnique({ where: { key } }))?.hits.length ?? 0

/** The error code of the call, or `accepted`. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
  return 'accepted'
}

/** Waits until so many statements wait for a lock. */
export const untilWaiting = (ctx: Pick<TestContext, 'db'>, waiters = 1) =>
  expect
    .poll(async () => {
      const waiting = await ctx.db
        .$queryRaw`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return (waiting as unknown[]).length
    })
    // What goes on in the background may wait too.
    .toBeGreaterThanOrEqual(waiters)

/** Starts `waiting` while this row is locked, runs `meanwhile` under the lock once all waiters wait, and releases the lock. */
export async function heldUp<T>(
  ctx: TestContext,
  [table, id]: ['users' | 'email_change_requests' | 'notices', string],
  waiting: () => Promise<T>,
  meanwhile: (...of: Transacted) => Promise<unknown>,
  waiters = 1,
): Promise<T> {
  let ending: Promise<T> | undefined
  await ctx.transact(async (...of) => {
    await rawSql(of[0], `SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id])
    ending = waiting()
    // Awaited below; it may be rejected before that.
    ending.catch(() => {})
    await untilWaiting(ctx, waiters)
    await meanwhile(...of)
  })
  return ending as Promise<T>
}

/** The context with a database that fails at this statement when one of its values is in `broken`. */
export const failingAt = (ctx: TestContext, name: string, broken: readonly unknown[]): TestContext =>
  atStatement(ctx, name, async (run, values) => {
    if (Object.values(values).some((value) => broken.includes(value))) throw new Error('on purpose')
    return run()
  })

/** The tables with a row that contains this text. */
export async function tablesWith(ctx: TestContext, text: string): Promise<string[]> {
  const tables = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await ctx.db.$queryRawUnsafe<unknown[]>(
      `SELECT 1 FROM ${name} t WHERE strpos(to_jsonb(t)::text, $1) > 0 LIMIT 1`,
      text,
    )
    if (rows.length > 0) found.push(name)
  }
  return found.sort()
}

/** Counts each outcome: `{ accepted: 3, EMAIL_008: 97 }`. */
export const tally = (outcomes: string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(outcomes, (outcome) => outcome)].map(([outcome, all]) => [outcome, all.length]))
