import type { SystemContext } from '../context'
import { type Placeholders, sql, statement } from '../sql'
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

interface List {
  /** The last row of the page before; null for the first page. */
  afterTime: Date | null
  afterId: string | null
  maxRows: number
}

interface Row {
  id: string
  started_at: Date
  due_by: Date | null
  completed_at: Date | null
  purged_at: Date | null
  place: Date
  open_steps: { step: string; is_failing: boolean }[] | null
  open_tasks: number
}

/** One page, read by the partial index of the state. It begins after the last row of the page before. */
const list = (state: WithdrawalState, where: string, time: string, order: 'ASC' | 'DESC') =>
  statement<List, Row>(
    `list-${state}-withdrawals`,
    (v) => `SELECT w.id, w.started_at, w.due_by, w.completed_at, w.purged_at, w.${time} AS place,
       (SELECT json_agg(json_build_object('step', s.step, 'is_failing', s.last_error IS NOT NULL) ORDER BY s.estimated_completion, ${placeOf(sql`s.step`)})
        FROM deletion_steps s WHERE s.withdrawal_id = w.id AND s.completed_at IS NULL) AS open_steps,
       (SELECT count(*)::int FROM app_notifications n WHERE n.withdrawal_id = w.id AND n.status <> 'completed') AS open_tasks
     FROM (
       SELECT * FROM withdrawals WHERE ${where} AND ${isAfter(v, time, order)}
       ORDER BY ${time} ${order}, id ${order} LIMIT ${v.maxRows}
     ) w ORDER BY w.${time} ${order}, w.id ${order}`,
  )

const isAfter = (v: Placeholders<List>, time: string, order: 'ASC' | 'DESC') => {
  const beyond = order === 'ASC' ? '>' : '<'
  return `(${v.afterTime}::timestamptz IS NULL OR (${time}, id) ${beyond} (${v.afterTime}::timestamptz, ${v.afterId}))`
}

const LISTS = {
  // In the order of the due dates. A withdrawal that an older release started has none; it is found by its id.
  processing: list('processing', 'completed_at IS NULL AND due_by IS NOT NULL', 'due_by', 'ASC'),
  completed: list('completed', 'completed_at IS NOT NULL AND purged_at IS NULL', 'completed_at', 'DESC'),
  purged: list('purged', 'purged_at IS NOT NULL AND completed_at IS NOT NULL', 'purged_at', 'DESC'),
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
