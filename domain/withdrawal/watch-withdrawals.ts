import { STEPS, type Step } from '@/contract/withdrawal'
import type { SystemContext } from '../context'
import { type Figure, figure, MAX_COUNTED, readFigures } from '../figures'
import { addPeriod, DEFAULT_STATUTORY_PERIOD } from '../limits/due-date'
import {
  DUE_SOON_MS,
  FAILED_NOTICE_SHOWN_MS,
  MIN_OVERDUE_GRACE_MS,
  OVERDUE_GRACE_MS,
  SILENT_APPLICATION_MS,
} from '../limits/durations'
import {
  boolean,
  type Described,
  integer,
  type Part,
  type Placeholders,
  type RowOf,
  type Shape,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { placeOf } from './steps/deletion-steps'

interface Backlog {
  /** Open withdrawals whose due date comes within a week, or has passed. */
  dueDates: Record<'soon' | 'overdue', Figure>
  steps: Record<'open' | 'due' | 'overdue' | 'failing', Figure>
  /** Events that the engine has not taken over. */
  outbox: Figure
  notices: Record<'waiting' | 'failed', Figure>
  /** Deliveries of events to applications. Dead letters count until the purge deletes them, or the operator retries them. */
  deliveries: Record<'waiting' | 'dead', Figure>
  /** Applications whose calls have failed for a day. */
  silentApps: Figure
}

/** Each is at most MAX_COUNTED + 1, which means any higher number. */
type WithdrawalCounts = RowOf<typeof countWithdrawals>

/** A step or an application whose attempts failed, or that no run has begun. */
export interface Trouble {
  id: string
  name: string
  attempts: number
  lastError: string | null
  nextTryAt: Date
}

export interface TroubledWithdrawal {
  withdrawalId: string
  startedAt: Date
  dueBy: Date
  steps: (Trouble & { isOverdue: boolean })[]
  applications: Trouble[]
}

interface WithdrawalWatch {
  withdrawals: WithdrawalCounts
  backlog: Backlog
  /** In the order of the due dates. */
  troubled: TroubledWithdrawal[]
  /** There are more than `troubled` shows. */
  isCut: boolean
}

const MAX_STEPS = 100

const MOMENTS = {
  now: time,
  /** A step that was due before this is overdue. */
  graceEnd: time,
} satisfies Shape
type Moments = Described<typeof MOMENTS>

/** A step that a run holds is overdue only after its estimate. */
const isOverdue = (v: Placeholders<Moments>) =>
  sql`(s.estimated_completion <= ${v.now} OR (s.due_at <= ${v.graceEnd} AND (s.lease_until IS NULL OR s.lease_until <= ${v.now})))`

/** An accepted task waits for its report, not for an answer. */
const isSilent = (v: { now: Part; silentSince: Part }) =>
  sql`due_at IS NOT NULL AND first_tried_at <= ${v.silentSince} AND (accepted_at IS NULL OR due_at <= ${v.now})`

const FIGURE_VALUES = { ...MOMENTS, failedSince: time, silentSince: time, soonUntil: time } satisfies Shape

const backlogFigure = (name: string, rows: (v: Placeholders<Described<typeof FIGURE_VALUES>>) => Part) =>
  figure(name, FIGURE_VALUES, rows)

// Only unfinished rows have a due time, and the partial indexes hold no others.
const FIGURES = {
  soon: backlogFigure(
    'count-withdrawals-due-soon',
    (v) => sql`FROM withdrawals WHERE completed_at IS NULL AND due_by > ${v.now} AND due_by <= ${v.soonUntil}`,
  ),
  pastDue: backlogFigure(
    'count-withdrawals-past-due',
    (v) => sql`FROM withdrawals WHERE completed_at IS NULL AND due_by <= ${v.now}`,
  ),
  open: backlogFigure('count-open-steps', () => sql`FROM deletion_steps WHERE due_at IS NOT NULL`),
  due: backlogFigure('count-due-steps', (v) => sql`FROM deletion_steps WHERE due_at <= ${v.now}`),
  overdue: backlogFigure(
    'count-overdue-steps',
    (v) => sql`FROM deletion_steps s WHERE s.due_at IS NOT NULL AND ${isOverdue(v)}`,
  ),
  failing: backlogFigure(
    'count-failing-steps',
    () => sql`FROM deletion_steps WHERE due_at IS NOT NULL AND last_error IS NOT NULL`,
  ),
  outbox: backlogFigure('count-outbox-events', () => sql`FROM outbox_events WHERE due_at IS NOT NULL`),
  waiting: backlogFigure('count-waiting-notices', () => sql`FROM notices WHERE due_at IS NOT NULL`),
  failed: backlogFigure('count-failed-notices', (v) => sql`FROM notices WHERE failed_at > ${v.failedSince}`),
  undelivered: backlogFigure('count-waiting-deliveries', () => sql`FROM event_deliveries WHERE due_at IS NOT NULL`),
  dead: backlogFigure('count-dead-deliveries', () => sql`FROM event_deliveries WHERE dead_at IS NOT NULL`),
  // The applications among so many silent calls.
  silentApps: backlogFigure(
    'count-silent-apps',
    (v) => sql`DISTINCT app_id FROM (
       SELECT app_id FROM app_notifications WHERE ${isSilent(v)} LIMIT ${MAX_COUNTED + 1}
     ) AS silent`,
  ),
}

// A purged withdrawal counts as processing while an application is still to be told. At most as many steps are read as `max`
// withdrawals can have.
const countWithdrawals = statement(
  'count-withdrawals',
  { max: integer },
  { processing: integer, completed: integer, purged: integer },
  (v) => sql`SELECT (SELECT least(count(DISTINCT withdrawal_id), ${v.max})::int FROM (
             SELECT withdrawal_id FROM deletion_steps WHERE due_at IS NOT NULL LIMIT ${STEPS.length} * ${v.max}
           ) open) AS processing,
          (SELECT count(*)::int FROM (
             SELECT FROM withdrawals WHERE purged_at IS NULL AND completed_at IS NOT NULL LIMIT ${v.max}
           ) kept) AS completed,
          (SELECT count(*)::int FROM (
             SELECT FROM withdrawals WHERE purged_at IS NOT NULL AND completed_at IS NOT NULL LIMIT ${v.max}
           ) over) AS purged`,
)
const DEFAULT_PERIOD = sql`interval '${DEFAULT_STATUTORY_PERIOD.months} months ${DEFAULT_STATUTORY_PERIOD.days} days'`
const readTrouble = statement(
  'watch-troubled-steps',
  { ...MOMENTS, maxRows: integer },
  {
    id: text,
    started_at: time,
    due_by: time.orNull,
    step: text.of<Step>(),
    attempts: integer,
    last_error: text.orNull,
    due_at: time,
    is_overdue: boolean,
  },
  (
    v,
  ) => sql`SELECT w.id, w.started_at, w.due_by, s.step, s.attempts, s.last_error, s.due_at, ${isOverdue(v)} AS is_overdue
   FROM deletion_steps s JOIN withdrawals w ON w.id = s.withdrawal_id
   WHERE s.due_at IS NOT NULL AND (s.last_error IS NOT NULL OR ${isOverdue(v)})
   ORDER BY coalesce(w.due_by, w.started_at + ${DEFAULT_PERIOD}), w.id, s.estimated_completion, ${placeOf(sql`s.step`)} LIMIT ${v.maxRows}`,
)
const readFailingApps = statement(
  'watch-failing-apps',
  { withdrawalIds: text.list },
  { withdrawal_id: text, app_id: text, app_name: text, attempts: integer, last_error: text, due_at: time },
  (v) => sql`SELECT withdrawal_id, app_id, app_name, attempts, last_error, due_at FROM app_notifications
   WHERE withdrawal_id = ANY(${v.withdrawalIds}::text[]) AND due_at IS NOT NULL AND last_error IS NOT NULL
   ORDER BY app_name, app_id`,
)

// Only the instance that marks the application reports it.
const markSilent = statement(
  'mark-silent-apps',
  { now: time, silentSince: time },
  { id: text, waiting: integer, since: time },
  (v) => sql`WITH silent AS (
     SELECT app_id, count(*)::int AS waiting, min(first_tried_at) AS since FROM app_notifications
     WHERE ${isSilent(v)} GROUP BY app_id
   ), heard AS (
     UPDATE connected_apps a SET silent_at = NULL
     WHERE a.silent_at IS NOT NULL AND NOT EXISTS (SELECT FROM silent WHERE app_id = a.id)
   ), found AS (
     SELECT a.id, silent.waiting, silent.since FROM connected_apps a JOIN silent ON silent.app_id = a.id
     WHERE a.silent_at IS NULL ORDER BY a.id FOR UPDATE OF a SKIP LOCKED
   )
   UPDATE connected_apps a SET silent_at = ${v.now} FROM found WHERE a.id = found.id
   RETURNING a.id, found.waiting, found.since`,
)

type StepRow = RowOf<typeof readTrouble>

type AppRow = RowOf<typeof readFailingApps>

/** The open work, in numbers. */
export async function watchBacklog(ctx: SystemContext): Promise<Backlog> {
  const moments = momentsOf(ctx)
  const failedSince = new Date(moments.now.getTime() - FAILED_NOTICE_SHOWN_MS)
  const { soon, pastDue, open, due, overdue, failing, outbox, waiting, failed, undelivered, dead, silentApps } =
    await readFigures(ctx, FIGURES, {
      ...moments,
      failedSince,
      silentSince: silentSince(ctx, moments.now),
      soonUntil: new Date(moments.now.getTime() + DUE_SOON_MS),
    })
  return {
    dueDates: { soon, overdue: pastDue },
    steps: { open, due, overdue, failing },
    outbox,
    notices: { waiting, failed },
    deliveries: { waiting: undelivered, dead },
    silentApps,
  }
}

/**
 * Logs one line for each application with a call that has had no good answer for a day. It logs the next line only after a time
 * without such a call.
 */
export async function tellSilentApps(ctx: SystemContext): Promise<void> {
  const now = ctx.clock.now()
  const apps = await ctx.sql(markSilent, { now, silentSince: silentSince(ctx, now) })
  for (const { id, waiting, since } of apps) {
    ctx.warn('connected_app_silent', { app_id: id, waiting, since: since.toISOString() })
  }
}

/** An application is silent if its first failed call was before this. */
const silentSince = ({ timeScale }: SystemContext, now: Date) =>
  new Date(now.getTime() - SILENT_APPLICATION_MS * timeScale)

/** For the operator: ids, states, times and errors, no personal data. */
export async function watchWithdrawals(ctx: SystemContext): Promise<WithdrawalWatch> {
  const [backlog, [withdrawals], rows] = await Promise.all([
    watchBacklog(ctx),
    ctx.sql(countWithdrawals, { max: MAX_COUNTED + 1 }),
    ctx.sql(readTrouble, { ...momentsOf(ctx), maxRows: MAX_STEPS }),
  ])
  const byWithdrawal = Map.groupBy(rows, ({ id }) => id)
  const apps = await ctx.sql(readFailingApps, { withdrawalIds: [...byWithdrawal.keys()] })
  const troubled = [...byWithdrawal].map(([withdrawalId, steps]) => ({
    withdrawalId,
    startedAt: (steps[0] as StepRow).started_at,
    dueBy: dueByOf(ctx, steps[0] as StepRow),
    steps: steps.map((row) => ({ ...toTrouble(row.step, row.step, row), isOverdue: row.is_overdue })),
    applications: apps
      .filter((row) => row.withdrawal_id === withdrawalId)
      .map((row) => toTrouble(row.app_id, row.app_name, row)),
  }))
  return { withdrawals: withdrawals as WithdrawalCounts, backlog, troubled, isCut: rows.length === MAX_STEPS }
}

const dueByOf = ({ statutoryPeriod }: SystemContext, { started_at, due_by }: StepRow) =>
  due_by ?? addPeriod(started_at, statutoryPeriod)

function momentsOf({ clock, timeScale }: SystemContext): Moments {
  const now = clock.now()
  return { now, graceEnd: new Date(now.getTime() - Math.max(MIN_OVERDUE_GRACE_MS, OVERDUE_GRACE_MS * timeScale)) }
}

const toTrouble = (id: string, name: string, row: StepRow | AppRow): Trouble => ({
  id,
  name,
  attempts: row.attempts,
  lastError: row.last_error,
  nextTryAt: row.due_at,
})
