import type { AnyContext } from '../context'
import { type Part, sql } from '../sql'

/** Due, and not under a lease. `row` is the alias of the table. */
export const isClaimable = (v: { now: Part }, row: Part) =>
  sql`${row}.due_at <= ${v.now} AND (${row}.lease_until IS NULL OR ${row}.lease_until <= ${v.now})`

/** For statements that look for due rows: adds the condition of the partial index, which a claim by key must not have. */
export const isDueAndClaimable = (v: { now: Part }, row: Part) =>
  sql`${row}.due_at IS NOT NULL AND ${isClaimable(v, row)}`

/** The wait after so many failed tries: doubles up to the maximum, and adds up to a quarter at random. */
export function backOffMs(ctx: AnyContext, attempts: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }) {
  const doubled = firstMs * 2 ** Math.min(attempts - 1, 20) * (1 + ctx.secrets.randomFraction() / 4)
  return Math.min(doubled, maxMs) * ctx.timeScale
}
