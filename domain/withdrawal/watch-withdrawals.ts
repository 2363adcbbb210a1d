import type { Step } from '@/contract/withdrawal'
import { type SystemContext, statement } from '../context'
import { watchDeliveries } from '../queue/events'

export interface Backlog {
  steps: { open: number; due: number; overdue: number; failing: number }
  /** Events that the engine has not taken over. */
  outbox: number
  notices: { waiting: number; failed: number }
  /** Of events to applications. */
  deliveries: { waiting: number; dead: number }
  /** Applications that have been called in vain for a day. */
  silentApps: number
}

/** Each no more than MAX_COUNTED + 1, which stands for all that are beyond. */
export interface WithdrawalCounts {
  processing: number
  completed: number
  purged: number
}

/** A step or an application that was tried in vain, or that nobody has run. */
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
  steps: (Trouble & { isOverdue: boolean })[]
  applications: Trouble[]
}

export interface WithdrawalWatch {
  withdrawals: WithdrawalCounts
  backlog: Backlog
  /** Oldest first. */
  troubled: TroubledWithdrawal[]
  /** There are more than `troubled` shows. */
  isCut: boolean
}

const MINUTE = 60_000
/** A sweep passes every minute: what nobody has run by then is not only waiting its turn. */
const GRACE_MS = 5 * MINUTE
const SHORTEST_GRACE_MS = 5_000
const DAY = 24 * 60 * MINUTE
const FAILED_NOTICES_MS = 30 * DAY
/** Scaled, as the windows of a withdrawal are. */
const SILENT_MS = DAY
export const MAX_COUNTED = 10_000
const MOST_STEPS = 100

// $1 is now, $2 the end of the grace. A run that holds the step is late only once the estimate is over.
const OVERDUE = '(s.estimated_completion <= $1 OR (s.due_at <= $2 AND (s.lease_until IS NULL OR s.lease_until <= $1)))'

// Unfinished rows alone have a due time, and partial indexes hold them: what is done is never read.
const readBacklog = statement(
  'watch-backlog',
  `SELECT steps.*,
     (SELECT count(*)::int FROM outbox_events WHERE due_at IS NOT NULL) AS outbox,
     (SELECT count(*)::int FROM notices WHERE due_at IS NOT NULL) AS waiting,
     (SELECT count(*)::int FROM notices WHERE failed_at IS NOT NULL AND failed_at > $3) AS failed,
     (SELECT count(DISTINCT app_id)::int FROM app_notifications
      WHERE due_at IS NOT NULL AND first_tried_at <= $4) AS silent_apps
   FROM (
     SELECT count(*)::int AS open,
            count(*) FILTER (WHERE s.due_at <= $1)::int AS due,
            count(*) FILTER (WHERE ${OVERDUE})::int AS overdue,
            count(*) FILTER (WHERE s.last_error IS NOT NULL)::int AS failing
     FROM deletion_steps s WHERE s.due_at IS NOT NULL
   ) steps`,
)
// What the purge has come to may still have an application to tell, and is processing until then. A withdrawal has four steps at
// most, so that four times the limit of them belong to as many withdrawals as are counted.
const countWithdrawals = statement(
  'count-withdrawals',
  `SELECT (SELECT least(count(DISTINCT withdrawal_id), $1)::int FROM (
             SELECT withdrawal_id FROM deletion_steps WHERE due_at IS NOT NULL LIMIT 4 * $1
           ) open) AS processing,
          (SELECT count(*)::int FROM (
             SELECT FROM withdrawals WHERE purged_at IS NULL AND completed_at IS NOT NULL LIMIT $1
           ) kept) AS completed,
          (SELECT count(*)::int FROM (
             SELECT FROM withdrawals WHERE purged_at IS NOT NULL AND completed_at IS NOT NULL LIMIT $1
           ) over) AS purged`,
)
const readTrouble = statement(
  'watch-troubled-steps',
  `SELECT w.id, w.started_at, s.step, s.attempts, s.last_error, s.due_at, ${OVERDUE} AS is_overdue
   FROM deletion_steps s JOIN withdrawals w ON w.id = s.withdrawal_id
   WHERE s.due_at IS NOT NULL AND (s.last_error IS NOT NULL OR ${OVERDUE})
   ORDER BY w.started_at, w.id, s.estimated_completion LIMIT $3`,
)
const readFailingApps = statement(
  'watch-failing-apps',
  `SELECT withdrawal_id, app_id, app_name, attempts, last_error, due_at FROM app_notifications
   WHERE withdrawal_id = ANY($1::text[]) AND due_at IS NOT NULL AND last_error IS NOT NULL
   ORDER BY app_name, app_id`,
)

// Of instances that look at once the one that marks the application tells of it.
const markSilent = statement(
  'mark-silent-apps',
  `WITH silent AS (
     SELECT app_id, count(*)::int AS waiting, min(first_tried_at) AS since FROM app_notifications
     WHERE due_at IS NOT NULL AND first_tried_at <= $2 GROUP BY app_id
   ), heard AS (
     UPDATE connected_apps a SET silent_at = NULL
     WHERE a.silent_at IS NOT NULL AND NOT EXISTS (SELECT FROM silent WHERE app_id = a.id)
   ), found AS (
     SELECT a.id, silent.waiting, silent.since FROM connected_apps a JOIN silent ON silent.app_id = a.id
     WHERE a.silent_at IS NULL ORDER BY a.id FOR UPDATE OF a SKIP LOCKED
   )
   UPDATE connected_apps a SET silent_at = $1 FROM found WHERE a.id = found.id
   RETURNING a.id, found.waiting, found.since`,
)

interface BacklogRow {
  open: number
  due: number
  overdue: number
  failing: number
  outbox: number
  waiting: number
  failed: number
  silent_apps: number
}

interface StepRow {
  id: string
  started_at: Date
  step: Step
  attempts: number
  last_error: string | null
  due_at: Date
  is_overdue: boolean
}

interface AppRow {
  withdrawal_id: string
  app_id: string
  app_name: string
  attempts: number
  last_error: string
  due_at: Date
}

/** What is left to do, in numbers. Notices that were given up count for 30 days. */
export async function watchBacklog(ctx: SystemContext): Promise<Backlog> {
  const [now, graceEnd] = momentsOf(ctx)
  const failedSince = new Date(now.getTime() - FAILED_NOTICES_MS)
  const [[row], deliveries] = await Promise.all([
    ctx.sql<BacklogRow>(readBacklog, [now, graceEnd, failedSince, silentSince(ctx, now)]),
    watchDeliveries(ctx),
  ])
  const { outbox, waiting, failed, silent_apps: silentApps, ...steps } = row as BacklogRow
  return { steps, outbox, notices: { waiting, failed }, deliveries, silentApps }
}

/**
 * One line in the log for each application that has left a call without a good answer for a day; another only after nothing waited
 * for it that long in between.
 */
export async function tellSilentApps(ctx: SystemContext): Promise<void> {
  const now = ctx.clock.now()
  const apps = await ctx.sql<{ id: string; waiting: number; since: Date }>(markSilent, [now, silentSince(ctx, now)])
  for (const { id, waiting, since } of apps) {
    ctx.warn('connected_app_silent', { app_id: id, waiting, since: since.toISOString() })
  }
}

/** Whoever was called first before this moment, and in vain since, is silent. */
const silentSince = ({ timeScale }: SystemContext, now: Date) => new Date(now.getTime() - SILENT_MS * timeScale)

/** For the operator: ids, states, times and errors, no personal data. */
export async function watchWithdrawals(ctx: SystemContext): Promise<WithdrawalWatch> {
  const [backlog, [withdrawals], rows] = await Promise.all([
    watchBacklog(ctx),
    ctx.sql<WithdrawalCounts>(countWithdrawals, [MAX_COUNTED + 1]),
    ctx.sql<StepRow>(readTrouble, [...momentsOf(ctx), MOST_STEPS]),
  ])
  const byWithdrawal = Map.groupBy(rows, ({ id }) => id)
  const apps = await ctx.sql<AppRow>(readFailingApps, [[...byWithdrawal.keys()]])
  const troubled = [...byWithdrawal].map(([withdrawalId, steps]) => ({
    withdrawalId,
    startedAt: (steps[0] as StepRow).started_at,
    steps: steps.map((row) => ({ ...toTrouble(row.step, row.step, row), isOverdue: row.is_overdue })),
    applications: apps
      .filter((row) => row.withdrawal_id === withdrawalId)
      .map((row) => toTrouble(row.app_id, row.app_name, row)),
  }))
  return { withdrawals: withdrawals as WithdrawalCounts, backlog, troubled, isCut: rows.length === MOST_STEPS }
}

function momentsOf({ clock, timeScale }: SystemContext): [now: Date, graceEnd: Date] {
  const now = clock.now()
  return [now, new Date(now.getTime() - Math.max(SHORTEST_GRACE_MS, GRACE_MS * timeScale))]
}

const toTrouble = (id: string, name: string, row: StepRow | AppRow): Trouble => ({
  id,
  name,
  attempts: row.attempts,
  lastError: row.last_error,
  nextTryAt: row.due_at,
})
