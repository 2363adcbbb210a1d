import type { AnyContext } from '../context'
import type { CallQueue } from '../process'
import { type Described, integer, type Part, sql, text, time } from '../sql'

// In a table of due work, `due_at` is null once a row is over. Whoever claims a row holds it until the lease ends. The end stands in
// `lease_until`; in a table without that column it stands in `due_at`, which the claim moves.

/** No lease, or one that has ended. `row` is the alias of the table. */
export const isFree = (v: { now: Part }, row: Part) =>
  sql`(${row}.lease_until IS NULL OR ${row}.lease_until <= ${v.now})`

export const isClaimable = (v: { now: Part }, row: Part) => sql`${row}.due_at <= ${v.now} AND ${isFree(v, row)}`

/** For statements that look for due rows: adds the condition of the partial index, which a claim by key must not have. */
export const isDueAndClaimable = (v: { now: Part }, row: Part) =>
  sql`${row}.due_at IS NOT NULL AND ${isClaimable(v, row)}`

/** As `isDueAndClaimable`, for a table without `lease_until`. */
export const isDue = (v: { now: Part }) => sql`due_at IS NOT NULL AND due_at <= ${v.now}`

/** The earliest time at which the row can be claimed. */
export const claimableAt = (row: Part) => sql`greatest(${row}.due_at, ${row}.lease_until)`

/** In the SET of a claim. */
export const takeLease = (v: { leaseUntil: Part }, row: Part) =>
  sql`lease_until = ${v.leaseUntil}, attempts = ${row}.attempts + 1`

/** As `takeLease`, for a table without `lease_until`. */
export const moveDueAt = (v: { leaseUntil: Part }) => sql`due_at = ${v.leaseUntil}, attempts = attempts + 1`

/** In the SET of what ends a lease. The row is due again at `dueAt`, or over if that is NULL. */
export const release = (dueAt: Part) => sql`due_at = ${dueAt}, lease_until = NULL`

export const leaseEnd = (from: Date, leaseMs: number): Date => new Date(from.getTime() + leaseMs)

/** The values of a claim. Whoever dies is followed by another once the lease has ended. */
export function claimFor(ctx: AnyContext, leaseMs: number): { now: Date; leaseUntil: Date } {
  const now = ctx.clock.now()
  return { now, leaseUntil: leaseEnd(now, leaseMs) }
}

/** The waits after the first, the second and each further failed try; or a wait that doubles from the first up to the maximum. */
export type BackOff = readonly [number, ...number[]] | { firstMs: number; maxMs: number }

/** The wait after so many failed tries. One that doubles adds up to a quarter at random, so that tries spread. */
function backOffMs(ctx: AnyContext, attempts: number, backOff: BackOff): number {
  if ('firstMs' in backOff) {
    const doubled = backOff.firstMs * 2 ** Math.min(attempts - 1, 20) * (1 + ctx.secrets.randomFraction() / 4)
    return Math.min(doubled, backOff.maxMs) * ctx.timeScale
  }
  return (backOff[Math.min(attempts, backOff.length) - 1] ?? backOff[0]) * ctx.timeScale
}

/** The time of the next try, after this wait from now. */
export const retryAfter = ({ clock }: AnyContext, waitMs: number): Date => new Date(clock.now().getTime() + waitMs)

/** When a row is tried again after so many failed tries. */
export const nextTryAt = (ctx: AnyContext, attempts: number, backOff: BackOff): Date =>
  retryAfter(ctx, backOffMs(ctx, attempts, backOff))

/** Works batch by batch, until one is not full. `work` returns how many rows it found; the result is their sum. */
export async function eachBatch(maxRows: number, work: () => Promise<number>): Promise<number> {
  let found = 0
  for (let rows = maxRows; rows === maxRows; found += rows) rows = await work()
  return found
}

/** Cursor: the last row of the previous batch. */
export const AFTER = { afterTime: time, afterId: text, maxRows: integer }
export type After = Described<typeof AFTER>

/** In the WHERE of a statement that is ordered by `time` and id. */
export const isAfter = (v: { afterTime: Part; afterId: Part }, at: Part) =>
  sql`(${at}, id) > (${v.afterTime}::timestamptz, ${v.afterId})`

/**
 * Works off all due rows, in batches. A row that fails is stepped over until the next run, so that it never holds up those behind it;
 * then all failures are thrown together. `rows` is the word for them in the log.
 */
export async function eachDue<Row extends { id: string; due_at: Date }>(
  { rows: what, maxRows }: { rows: string; maxRows: number },
  read: (after: After) => Promise<Row[]>,
  work: (row: Row) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = []
  const after = { afterTime: new Date(0), afterId: '', maxRows }
  await eachBatch(maxRows, async () => {
    const rows = await read(after)
    for (const row of rows) await work(row).catch((error) => failures.push(error))
    const last = rows.at(-1)
    if (last) Object.assign(after, { afterTime: last.due_at, afterId: last.id })
    return rows.length
  })
  throwAll(failures, `${failures.length} ${what} failed`)
}

/** Throws what failed while the rest went on, if anything did. */
export function throwAll(failures: readonly unknown[], message: string): void {
  if (failures.length > 0) throw new AggregateError(failures, message)
}

/** Counts a call as active until it ends, whatever becomes of it. */
export function holdPlace({ calls }: Pick<CallQueue, 'calls'>, call: Promise<unknown>): Promise<unknown> {
  const ended: Promise<unknown> = call.catch(() => {}).then(() => calls.delete(ended))
  calls.add(ended)
  return ended
}
