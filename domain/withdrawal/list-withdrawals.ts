import type { SystemContext } from '../context'
import {
  type Described,
  integer,
  json,
  type Part,
  type Placeholders,
  type Shape,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { placeOf } from './steps/deletion-steps'

/**
 * purged: nothing of the person is kept any more. A withdrawal whose applications are not done stays processing, even after its
 * purge.
 */
export const WITHDRAWAL_STATES = ['processing', 'completed', 'purged'] as const
export type WithdrawalState = (typeof WITHDRAWAL_STATES)[number]

interface ListedWithdrawal {
  withdrawalId: string
  startedAt: Date
  /** Null if an older release started it. */
  dueBy: Date | null
  completedAt: Date | null
  purgedAt: Date | null
  isPastDue: boolean
  openSteps: { step: string; isFailing: boolean }[]
  openTasks: number
}

const LIST = {
  /** The last row of the page before; null for the first page. */
  afterTime: time.orNull,
  afterId: text.orNull,
  maxRows: integer,
} satisfies Shape
type List = Described<typeof LIST>

const ROW = {
  id: text,
  started_at: time,
  due_by: time.orNull,
  completed_at: time.orNull,
  purged_at: time.orNull,
  place: time,
  open_steps: json.of<{ step: string; is_failing: boolean }[]>().orNull,
  open_tasks: integer,
} satisfies Shape
type Row = Described<typeof ROW>

const ASC = sql`ASC`
const DESC = sql`DESC`
type Order = typeof ASC | typeof DESC

/** One page, read by the partial index of the state. It begins after the last row of the page before. */
const list = (state: WithdrawalState, where: Part, at: Part, order: Order) =>
  statement(
    `list-${state}-withdrawals`,
    LIST,
    ROW,
    (v) => sql`SELECT w.id, w.started_at, w.due_by, w.completed_at, w.purged_at, w.${at} AS place,
       (SELECT json_agg(json_build_object('step', s.step, 'is_failing', s.last_error IS NOT NULL) ORDER BY s.estimated_completion, ${placeOf(sql`s.step`)})
        FROM deletion_steps s WHERE s.withdrawal_id = w.id AND s.completed_at IS NULL) AS open_steps,
       (SELECT count(*)::int FROM app_notifications n WHERE n.withdrawal_id = w.id AND n.status <> 'completed') AS open_tasks
     FROM (
       SELECT * FROM withdrawals WHERE ${where} AND ${isAfter(v, at, order)}
       ORDER BY ${at} ${order}, id ${order} LIMIT ${v.maxRows}
     ) w ORDER BY w.${at} ${order}, w.id ${order}`,
  )

const isAfter = (v: Placeholders<List>, at: Part, order: Order) => {
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

export interface WithdrawalPage {
  withdrawals: ListedWithdrawal[]
  /** Where the next page begins; null on the last one. */
  next: string | null
}

/** For the operator: ids, states and times, no personal data. `after` is `next` of the page before. */
export async function listWithdrawals(
  ctx: SystemContext,
  { state, after }: { state: WithdrawalState; after?: string | undefined },
): Promise<WithdrawalPage> {
  const [, time, afterId] = /^(\d{1,15})_(.{1,64})$/.exec(after ?? '') ?? []
  const place = { afterTime: time ? new Date(Number(time)) : null, afterId: afterId ?? null }
  const rows = await ctx.sql<List, Row>(LISTS[state], { ...place, maxRows: PAGE + 1 })
  const now = ctx.clock.now()
  const shown = rows.slice(0, PAGE)
  const last = shown.at(-1)
  return {
    withdrawals: shown.map((row) => ({
      withdrawalId: row.id,
      startedAt: row.started_at,
      dueBy: row.due_by,
      completedAt: row.completed_at,
      purgedAt: row.purged_at,
      isPastDue: row.completed_at === null && row.due_by !== null && row.due_by <= now,
      openSteps: (row.open_steps ?? []).map(({ step, is_failing }) => ({ step, isFailing: is_failing })),
      openTasks: row.open_tasks,
    })),
    next: rows.length > PAGE && last ? `${last.place.getTime()}_${last.id}` : null,
  }
}
