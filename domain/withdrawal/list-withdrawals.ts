import type { ListedWithdrawal, WithdrawalState } from '@/contract/operator'
import type { SystemContext } from '../context'
import { integer, type Part, type Placeholders, sql, statement, text, time } from '../sql'
import { FACTS, SELECT_FACTS, stepsOf, toFacts } from './withdrawal-facts'

const LIST = {
  /** The last row of the page before; null for the first page. */
  afterTime: time.orNull,
  afterId: text.orNull,
  maxRows: integer,
}

const ASC = sql`ASC`
const DESC = sql`DESC`
type Order = typeof ASC | typeof DESC

/** One page, read by the partial index of the state. It begins after the last row of the page before. */
const list = (state: WithdrawalState, where: Part, at: Part, order: Order) =>
  statement(
    `list-${state}-withdrawals`,
    LIST,
    { ...FACTS, place: time },
    (v) => sql`SELECT ${SELECT_FACTS}, w.${at} AS place
     FROM (
       SELECT * FROM withdrawals WHERE ${where} AND ${isAfter(v, at, order)}
       ORDER BY ${at} ${order}, id ${order} LIMIT ${v.maxRows}
     ) w ORDER BY w.${at} ${order}, w.id ${order}`,
  )

const isAfter = (v: Placeholders<typeof LIST>, at: Part, order: Order) => {
  const beyond = order === ASC ? sql`>` : sql`<`
  return sql`(${v.afterTime}::timestamptz IS NULL OR (${at}, id) ${beyond} (${v.afterTime}::timestamptz, ${v.afterId}))`
}

const LISTS = {
  // In the order of the due dates. A withdrawal that an older release started has none; it is found by its id.
  processing: list('processing', sql`completed_at IS NULL AND due_by IS NOT NULL`, sql`due_by`, ASC),
  completed: list('completed', sql`completed_at IS NOT NULL AND purged_at IS NULL`, sql`completed_at`, DESC),
  purged: list('purged', sql`purged_at IS NOT NULL AND completed_at IS NOT NULL`, sql`purged_at`, DESC),
} as const satisfies Record<WithdrawalState, unknown>

const PAGE = 50

/** For operators. `after` is `next` of the page before; `next` is null on the last one. */
export async function listWithdrawals(
  ctx: SystemContext,
  { state, after }: { state: WithdrawalState; after?: string | undefined },
): Promise<{ withdrawals: ListedWithdrawal[]; next: string | null }> {
  const [, time, afterId] = /^(\d{1,15})_(.{1,64})$/.exec(after ?? '') ?? []
  const place = { afterTime: time ? new Date(Number(time)) : null, afterId: afterId ?? null }
  const rows = await ctx.sql(LISTS[state], { ...place, maxRows: PAGE + 1 })
  const now = ctx.clock.now()
  const shown = rows.slice(0, PAGE)
  const steps = await stepsOf(
    ctx,
    shown.map(({ id }) => id),
  )
  const last = shown.at(-1)
  return {
    withdrawals: shown.map((row) => ({
      ...toFacts(row, now),
      deletion_steps: steps(row.id).filter(({ completed_at }) => completed_at === null),
    })),
    next: rows.length > PAGE && last ? `${last.place.getTime()}_${last.id}` : null,
  }
}
