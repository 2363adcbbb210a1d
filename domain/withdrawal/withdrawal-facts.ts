import type { ListedWithdrawal, ShownStep, WithdrawalState } from '@/contract/operator'
import type { SystemContext } from '../context'
import { countsOf, type DeletionCount, describeCounts } from '../deletion-counts'
import { withIsoTimes } from '../iso-times'
import { MIN_OVERDUE_GRACE_MS, OVERDUE_GRACE_MS } from '../limits/durations'
import {
  boolean,
  type Described,
  integer,
  json,
  type Placeholders,
  type RowOf,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { isFree } from '../work/queue'
import { placeOf } from './steps/deletion-steps'

/** What operators see of a withdrawal wherever they see it. */
export const FACTS = {
  id: text,
  reason: text.orNull,
  started_at: time,
  due_by: time.orNull,
  scheduled_completion: time,
  completed_at: time.orNull,
  purge_due_at: time,
  purged_at: time.orNull,
  receipt_due_at: time.orNull,
  waits_for: text.list,
  waived_tasks: integer,
}

/** Of `withdrawals w`. */
export const SELECT_FACTS = sql`w.id, w.reason, w.started_at, w.due_by, w.scheduled_completion, w.completed_at, w.purge_due_at, w.purged_at,
     w.receipt_due_at,
     ARRAY(SELECT n.app_name FROM deletion_tasks n WHERE n.withdrawal_id = w.id AND n.status <> 'completed') AS waits_for,
     (SELECT count(*)::int FROM deletion_tasks n WHERE n.withdrawal_id = w.id AND n.waived_at IS NOT NULL) AS waived_tasks`

export const toFacts = (row: Described<typeof FACTS>, now: Date): Omit<ListedWithdrawal, 'deletion_steps'> => ({
  withdrawal_id: row.id,
  status: stateOf(row),
  is_past_due: row.completed_at === null && row.due_by !== null && row.due_by <= now,
  reason: row.reason,
  started_at: row.started_at.toISOString(),
  due_by: isoOf(row.due_by),
  scheduled_completion: row.scheduled_completion.toISOString(),
  completed_at: isoOf(row.completed_at),
  purge_due_at: row.purge_due_at.toISOString(),
  purged_at: isoOf(row.purged_at),
  open_tasks: row.waits_for.length,
  waits_for: row.waits_for.toSorted(),
  waived_tasks: stateOf(row) === 'purged' ? null : row.waived_tasks,
})

function stateOf({ completed_at, purged_at }: Described<typeof FACTS>): WithdrawalState {
  if (completed_at === null) return 'processing'
  return purged_at === null ? 'completed' : 'purged'
}

export const isoOf = (time: Date | null): string | null => time?.toISOString() ?? null

export const MOMENTS = {
  now: time,
  /** A step that was due before this is overdue. */
  graceEnd: time,
}
type Moments = Described<typeof MOMENTS>

export function momentsOf({ clock, timeScale }: SystemContext): Moments {
  const now = clock.now()
  return { now, graceEnd: new Date(now.getTime() - Math.max(MIN_OVERDUE_GRACE_MS, OVERDUE_GRACE_MS * timeScale)) }
}

/** Of `deletion_steps s`. A step that a run holds is overdue only after its estimate. */
export const isOverdue = (v: Placeholders<Moments>) =>
  sql`(s.due_at IS NOT NULL AND (s.estimated_completion <= ${v.now}
     OR (s.due_at <= ${v.graceEnd} AND ${isFree(v, sql`s`)})))`

const readSteps = statement(
  'steps-of-withdrawals',
  { ...MOMENTS, withdrawalIds: text.list },
  {
    withdrawal_id: text,
    step: text,
    status: text.of<ShownStep['status']>(),
    estimated_completion: time,
    completed_at: time.orNull,
    due_at: time.orNull,
    is_overdue: boolean,
    erased_at: time.orNull,
    attempts: integer,
    last_error: text.orNull,
    is_counted: boolean,
    purge_due_at: time,
    counts: json.of<DeletionCount[]>().orNull,
  },
  (v) => sql`SELECT s.withdrawal_id, s.step, s.status, s.estimated_completion, s.completed_at, s.due_at,
     ${isOverdue(v)} AS is_overdue, s.erased_at, s.attempts, s.last_error, s.is_counted, w.purge_due_at,
     ${countsOf(sql`s.withdrawal_id`, sql`s.step`)} AS counts
   FROM deletion_steps s JOIN withdrawals w ON w.id = s.withdrawal_id
   WHERE s.withdrawal_id = ANY(${v.withdrawalIds}::text[]) ORDER BY s.estimated_completion, ${placeOf(sql`s.step`)}`,
)

/** The steps of each of these withdrawals, in the order in which they should be completed. */
export async function stepsOf(ctx: SystemContext, withdrawalIds: string[]): Promise<(id: string) => ShownStep[]> {
  const moments = momentsOf(ctx)
  const rows = Map.groupBy(
    await ctx.sql(readSteps, { ...moments, withdrawalIds }),
    ({ withdrawal_id }) => withdrawal_id,
  )
  return (id) => (rows.get(id) ?? []).map((row) => toStep(row, moments.now))
}

function toStep(row: RowOf<typeof readSteps>, now: Date): ShownStep {
  const { withdrawal_id: _, is_counted: isCounted, purge_due_at: until, counts, ...step } = row
  const counted = step.completed_at && isCounted && describeCounts(counts ?? [], until.toISOString())
  const { is_overdue: isOverdue, estimated_completion: planned, due_at: dueAt } = step
  return { ...withIsoTimes(step), late_since: isOverdue ? isoOf(planned <= now ? planned : dueAt) : null, ...counted }
}
