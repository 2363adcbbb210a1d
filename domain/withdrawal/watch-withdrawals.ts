import { MAX_COUNTED, type ShownStep, type TroubledWithdrawal } from '@/contract/operator'
import { STEPS } from '@/contract/withdrawal'
import { tasksOf } from '../applications/list-tasks'
import { isPresent } from '../applications/task-states'
import type { SystemContext } from '../context'
import { cappedCount, readFigures } from '../figures'
import { addPeriod, DEFAULT_STATUTORY_PERIOD } from '../limits/due-date'
import { DUE_SOON_MS, FAILED_NOTICE_SHOWN_MS, SILENT_APPLICATION_MS } from '../limits/durations'
import { CALLS_FOR_HELP } from '../limits/held-addresses'
import { integer, isOneOf, type Part, type Placeholders, sql, statement, text, time } from '../sql'
import { readLedgerHead } from './ledger/erasure-ledger'
import { FACTS, isOverdue, MOMENTS, momentsOf, SELECT_FACTS, stepsOf, toFacts } from './withdrawal-facts'

const MAX_TROUBLED = 50
/** Of all of them. */
const MAX_TASKS = 1_000

/** An accepted task waits for its report, not for an answer; one that is done waits for its absence check. */
const isSilent = (v: { now: Part; silentSince: Part }) =>
  sql`due_at IS NOT NULL AND first_tried_at <= ${v.silentSince} AND CASE WHEN completed_at IS NULL
     THEN accepted_at IS NULL OR due_at <= ${v.now} ELSE checked_at <= ${v.silentSince} END`

const FIGURE_VALUES = { ...MOMENTS, failedSince: time, silentSince: time, soonUntil: time }

const backlogFigure = (name: string, rows: (v: Placeholders<typeof FIGURE_VALUES>) => Part) =>
  cappedCount(name, FIGURE_VALUES, rows)

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
  overdue: backlogFigure('count-overdue-steps', (v) => sql`FROM deletion_steps s WHERE ${isOverdue(v)}`),
  failing: backlogFigure(
    'count-failing-steps',
    () => sql`FROM deletion_steps WHERE due_at IS NOT NULL AND last_error IS NOT NULL`,
  ),
  ledgerBatches: backlogFigure('count-ledger-batches', () => sql`FROM erasure_ledger_batches`),
  outbox: backlogFigure('count-outbox-events', () => sql`FROM outbox_events WHERE due_at IS NOT NULL`),
  waiting: backlogFigure('count-waiting-notices', () => sql`FROM notices WHERE due_at IS NOT NULL`),
  failed: backlogFigure('count-failed-notices', (v) => sql`FROM notices WHERE failed_at > ${v.failedSince}`),
  // As many as the people who cannot stop or undo a change, because nobody warned them.
  unwarned: backlogFigure(
    'count-unwarned',
    (v) => sql`FROM mail_deliveries WHERE state = 'undeliverable' AND recipient = 'old' AND state_at > ${v.failedSince}
       AND kind IN ('email_change_requested', 'email_changed')
       AND EXISTS (SELECT FROM email_change_requests r WHERE r.id = change_request_id AND ${CALLS_FOR_HELP})`,
  ),
  undelivered: backlogFigure('count-waiting-deliveries', () => sql`FROM event_deliveries WHERE due_at IS NOT NULL`),
  dead: backlogFigure('count-dead-deliveries', () => sql`FROM event_deliveries WHERE dead_at IS NOT NULL`),
  // The condition of their index comes first: every one of them was told.
  present: backlogFigure(
    'count-present-tasks',
    () => sql`FROM deletion_tasks n WHERE first_tried_at IS NOT NULL AND due_at IS NOT NULL AND ${isPresent(sql`n`)}`,
  ),
  // The applications among so many silent calls.
  silentApps: backlogFigure(
    'count-silent-apps',
    (v) => sql`DISTINCT app_id FROM (
       SELECT app_id FROM deletion_tasks WHERE ${isSilent(v)} LIMIT ${MAX_COUNTED + 1}
     ) AS silent`,
  ),
}

// A purged withdrawal counts as processing while an application is still to be told. At most as many steps are read as so many
// withdrawals can have.
const COUNTS = {
  processing: cappedCount(
    'count-processing-withdrawals',
    {},
    () => sql`DISTINCT withdrawal_id FROM (
       SELECT withdrawal_id FROM deletion_steps WHERE due_at IS NOT NULL LIMIT ${STEPS.length * (MAX_COUNTED + 1)}
     ) AS open`,
  ),
  completed: cappedCount(
    'count-completed-withdrawals',
    {},
    () => sql`FROM withdrawals WHERE purged_at IS NULL AND completed_at IS NOT NULL`,
  ),
  purged: cappedCount(
    'count-purged-withdrawals',
    {},
    () => sql`FROM withdrawals WHERE purged_at IS NOT NULL AND completed_at IS NOT NULL`,
  ),
}

export const countWithdrawals = (ctx: SystemContext) => readFigures(ctx, COUNTS, {})

/** A withdrawal without a due date began in an older release. */
const DEFAULT_PERIOD = sql`interval '${DEFAULT_STATUTORY_PERIOD.months} months ${DEFAULT_STATUTORY_PERIOD.days} days'`
const readTroubled = statement(
  'troubled-withdrawals',
  { ...MOMENTS, maxRows: integer },
  FACTS,
  (v) => sql`SELECT ${SELECT_FACTS} FROM withdrawals w
   WHERE ${isOneOf(
     sql`w.id`,
     sql`SELECT s.withdrawal_id FROM deletion_steps s WHERE s.due_at IS NOT NULL AND (s.last_error IS NOT NULL OR ${isOverdue(v)})`,
   )}
   ORDER BY coalesce(w.due_by, w.started_at + ${DEFAULT_PERIOD}), w.id LIMIT ${v.maxRows}`,
)

// Only the instance that marks the application reports it.
const markSilent = statement(
  'mark-silent-apps',
  { now: time, silentSince: time },
  { id: text, waiting: integer, since: time },
  (v) => sql`WITH silent AS (
     SELECT app_id, count(*)::int AS waiting, min(coalesce(checked_at, first_tried_at)) AS since FROM deletion_tasks
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

/** The open work, in numbers. */
export async function watchBacklog(ctx: SystemContext) {
  const moments = momentsOf(ctx)
  const failedSince = new Date(moments.now.getTime() - FAILED_NOTICE_SHOWN_MS)
  const { replayed } = await readLedgerHead(ctx).catch(() => ({ replayed: null }))
  const figures = await readFigures(ctx, FIGURES, {
    ...moments,
    failedSince,
    silentSince: silentSince(ctx, moments.now),
    soonUntil: new Date(moments.now.getTime() + DUE_SOON_MS),
  })
  const { soon, pastDue, open, due, overdue, failing, outbox, waiting, failed, undelivered, dead, silentApps } = figures
  return {
    /** Open withdrawals whose due date comes within a week, or has passed. */
    dueDates: { soon, overdue: pastDue },
    steps: { open, due, overdue, failing },
    /** Batches that the store does not have, and how often somebody was withdrawn again because the database had lost it. */
    ledger: { waiting: figures.ledgerBatches, replayed },
    /** Events that the engine has not taken over. */
    outbox,
    notices: { waiting, failed, unwarned: figures.unwarned },
    /** Deliveries of events to applications. Dead letters count until the purge deletes them, or the operator retries them. */
    deliveries: { waiting: undelivered, dead },
    /** Applications whose calls have failed for a day. */
    silentApps,
    /** Tasks whose application still has the person though it was told again and again: an operator decides. */
    present: figures.present,
  }
}

/**
 * Logs one line for each application with a call that has had no good answer for a day. It logs the next line only after a time
 * without such a call.
 */
export async function reportSilentApps(ctx: SystemContext): Promise<void> {
  const now = ctx.clock.now()
  const apps = await ctx.sql(markSilent, { now, silentSince: silentSince(ctx, now) })
  for (const { id, waiting, since } of apps) {
    ctx.warn('connected_app_silent', { appId: id, waiting, since: since.toISOString() })
  }
}

/** An application is silent if its first failed call was before this. */
const silentSince = ({ timeScale }: SystemContext, now: Date) =>
  new Date(now.getTime() - SILENT_APPLICATION_MS * timeScale)

/** For operators: withdrawals with a step that failed or that nobody has run in time, in the order of their due dates. */
export async function troubledWithdrawals(
  ctx: SystemContext,
): Promise<{ withdrawals: TroubledWithdrawal[]; is_cut: boolean }> {
  const moments = momentsOf(ctx)
  const rows = await ctx.sql(readTroubled, { ...moments, maxRows: MAX_TROUBLED + 1 })
  const ids = rows.slice(0, MAX_TROUBLED).map(({ id }) => id)
  const [steps, tasks] = await Promise.all([stepsOf(ctx, ids), tasksOf(ctx, ids, MAX_TASKS)])
  const withdrawals = rows.slice(0, MAX_TROUBLED).map((row) => {
    const own = tasks.filter(
      ({ withdrawal_id, state }) => withdrawal_id === row.id && state !== 'completed' && state !== 'waived',
    )
    const troubled = steps(row.id).filter((step) => step.due_at && (step.last_error || step.is_overdue))
    const failing = new Set(own.filter(({ last_error }) => last_error !== null).map(({ phase }) => phase))
    // Where one application fails, a late step may wait for others too.
    const waiting = new Set(
      troubled
        .filter((each) => waitsForApps(each) || (each.is_overdue && failing.has(each.step)))
        .map(({ step }) => step),
    )
    return {
      ...toFacts({ ...row, due_by: row.due_by ?? addPeriod(row.started_at, ctx.statutoryPeriod) }, moments.now),
      deletion_steps: troubled,
      tasks: own.filter(({ last_error, phase }) => last_error !== null || waiting.has(phase)),
    }
  })
  return { withdrawals, is_cut: rows.length > MAX_TROUBLED }
}

/** Nobody has run any other one, or it fails by itself. */
const waitsForApps = ({ attempts, erased_at, last_error }: ShownStep) =>
  last_error === null && (attempts > 0 || erased_at !== null)
