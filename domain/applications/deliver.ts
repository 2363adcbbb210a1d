import type { Step } from '@/contract/withdrawal'
import type { SystemContext, Transaction } from '../context'
import { addCounts } from '../deletion-counts'
import { ABSENCE_CHECK_MS, ABSENCE_ESTIMATE_MS, CALL_BACK_OFF, CALL_LEASE_MS, second } from '../limits/durations'
import type { AppAnswer } from '../ports'
import {
  boolean,
  bytes,
  type Described,
  integer,
  isOneOf,
  type Part,
  type Placeholders,
  type RowOf,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { claimableAt, claimFor, isClaimable, release, retryAfter, takeLease } from '../work/queue'
import { isPresent } from './task-states'
import { type Acknowledges, reportPlaceOf } from './task-token'
import { isCalled, isSuccess, nextCallAt, noteGoodAnswer, SIGNING_ROW, sendWebhook, signingOf } from './webhook'

type TaskRow = RowOf<typeof claimDue>

export const TASKS_OF_STEP = {
  withdrawalId: text,
  /** The phase of the tasks. */
  step: text.of<Step>(),
}
export type TasksOfStep = Described<typeof TASKS_OF_STEP>

/** Shared items that one statement deletes. */
const BATCH_SIZE = 5_000

/**
 * Begins a try and clears the report of the last one. If an accepted task is tried again, its report is late, so the application
 * counts as silent from now on.
 */
export const startsTry = (v: { now: Part; leaseUntil: Part }) =>
  sql`status = 'processing', ${takeLease(v, sql`n`)},
     first_tried_at = CASE WHEN n.accepted_at IS NULL THEN coalesce(n.first_tried_at, ${v.now}) ELSE ${v.now} END,
     last_error = CASE WHEN n.accepted_at IS NULL THEN n.last_error ELSE 'no_report' END,
     accepted_at = NULL, progress_done = NULL, progress_total = NULL, records = NULL, retained = NULL`

/** Whom a task is about; null if that is sealed, or deleted by the purge. */
export const PERSON_ROW = {
  subject: text.orNull,
  sealed_subject: bytes.orNull,
  account: text.orNull,
  sealed_account: bytes.orNull,
}

/** The columns of `PERSON_ROW`, of the task `n` of the withdrawal `w`. */
export const PERSON_OF_TASK = sql`n.subject, n.sealed_subject, w.user_id AS account, n.sealed_account`

const claimDue = statement(
  'claim-tasks',
  { ...TASKS_OF_STEP, now: time, leaseUntil: time },
  {
    ...SIGNING_ROW,
    ...PERSON_ROW,
    id: text,
    acknowledges: text.of<Acknowledges>(),
    acknowledge_within_s: integer,
    attempts: integer,
    phase: text.of<Step>(),
    started_at: time,
    due_by: time,
  },
  (v) => sql`UPDATE deletion_tasks n SET ${startsTry(v)}
   FROM connected_apps a, withdrawals w, deletion_steps s
   WHERE n.withdrawal_id = ${v.withdrawalId} AND n.phase = ${v.step} AND a.id = n.app_id AND ${isCalled(sql`a`)}
     AND w.id = n.withdrawal_id AND s.withdrawal_id = n.withdrawal_id AND s.step = n.phase AND n.completed_at IS NULL
     AND ${isClaimable(v, sql`n`)}
   RETURNING n.id, ${PERSON_OF_TASK}, n.acknowledges, a.acknowledge_within_s, n.attempts, n.phase, ${signingOf(sql`a`)},
     w.started_at, s.estimated_completion AS due_by`,
)

const TASK_END = {
  id: text,
  /** Null if the application reported. */
  status: integer.orNull,
  withdrawalId: text,
  now: time,
  leaseUntil: time,
  checkAt: time,
  /** When the step should be completed that waits for the check. */
  checkedBy: time,
}

/** Locks the withdrawal, as the end of a step and the purge do. Deletes a batch of the items shared with the application. */
const deletedItems = (v: Placeholders<typeof TASK_END>) => sql`withdrawal AS (
     SELECT id, user_id, scheduled_completion FROM withdrawals WHERE id = ${v.withdrawalId} FOR UPDATE
   ), items AS (
     DELETE FROM shared_items WHERE ${isOneOf(
       sql`id`,
       sql`SELECT s.id FROM withdrawal w JOIN deletion_tasks n ON n.id = ${v.id} AND n.withdrawal_id = w.id
       JOIN shared_items s ON s.user_id = w.user_id AND s.app_id = n.app_id LIMIT ${BATCH_SIZE}`,
     )} RETURNING 1
   )`

/** The application has not said that it is done. */
const isOpen = sql`n.status <> 'completed' AND n.completed_at IS NULL`

// A task that awaits its check still has to name the person, and begins to count its tries anew.
const awaitsCheck = (v: { now: Part; checkAt: Part }) =>
  sql`status = CASE WHEN n.confirms THEN 'processing' ELSE 'completed' END,
         ${release(sql`CASE WHEN n.confirms THEN CASE WHEN ${v.checkAt} > w.scheduled_completion THEN ${v.now} ELSE ${v.checkAt} END END`)},
         attempts = CASE WHEN n.confirms THEN 0 ELSE n.attempts END, subject = CASE WHEN n.confirms THEN n.subject END,
         sealed_subject = CASE WHEN n.confirms THEN n.sealed_subject END,
         sealed_account = CASE WHEN n.confirms THEN n.sealed_account END`

// The last batch ends the task, or has it await its absence check, and deletes the connection; the batches before it renew the lease.
// An instance that has lost its lease finds the task completed.
const completeTask = statement(
  'complete-deletion-task',
  TASK_END,
  { is_over: boolean },
  (v) => sql`WITH ${deletedItems(v)}, task AS (
     UPDATE deletion_tasks n
     SET completed_at = ${v.now}, last_error = NULL, last_status = ${v.status}, ${awaitsCheck(v)}
     FROM withdrawal w
     WHERE n.id = ${v.id} AND n.withdrawal_id = w.id AND ${isOpen} AND (SELECT count(*) FROM items) < ${BATCH_SIZE}
     RETURNING w.user_id, w.scheduled_completion, n.app_id, n.phase, n.confirms
   ), steps AS (
     UPDATE deletion_steps s SET estimated_completion = greatest(s.estimated_completion, least(${v.checkedBy}, task.scheduled_completion))
     FROM task WHERE task.confirms AND s.withdrawal_id = ${v.withdrawalId} AND s.step = task.phase
   ), connections AS (
     DELETE FROM app_connections c USING task WHERE c.user_id = task.user_id AND c.app_id = task.app_id RETURNING 1
   ), counts AS (
     ${addCounts(v.withdrawalId, 'third_party_integrations', [
       { category: 'shared_data', outcome: sql`'erased'`, records: sql`(SELECT count(*) FROM items)` },
       { category: 'connections', outcome: sql`'erased'`, records: sql`(SELECT count(*) FROM connections)` },
     ])}
   ), renewed AS (
     UPDATE deletion_tasks n SET lease_until = ${v.leaseUntil}
     WHERE n.id = ${v.id} AND ${isOpen} AND (SELECT count(*) FROM items) >= ${BATCH_SIZE}
   )
   SELECT count(*) < ${BATCH_SIZE} AS is_over FROM items`,
)
// A report or a later try ends this call, so that its answer no longer counts.
const isThisCall = (v: { id: Part; attempts: Part }) =>
  sql`id = ${v.id} AND attempts = ${v.attempts} AND lease_until IS NOT NULL AND ${isOpen}`
const markFailed = statement(
  'mark-app-failed',
  { id: text, attempts: integer, nextTryAt: time, problem: text },
  {},
  (v) => sql`UPDATE deletion_tasks n SET ${release(v.nextTryAt)}, last_error = ${v.problem}
   WHERE ${isThisCall(v)}`,
)
const markAccepted = statement(
  'mark-task-accepted',
  { id: text, attempts: integer, now: time, reportBy: time },
  {},
  (v) => sql`UPDATE deletion_tasks n SET accepted_at = ${v.now}, ${release(v.reportBy)}, last_error = NULL
   WHERE ${isThisCall(v)}`,
)
// Tasks of polling or disabled applications, and those that the operator has to decide, become due through other calls. The periodic
// check covers a missed wake-up.
const readNextTry = statement(
  'next-task',
  { ...TASKS_OF_STEP, lookAgainAt: time },
  { at: time.orNull, problem: text.orNull },
  (v) => sql`SELECT min(CASE WHEN ${isCalled(sql`a`)} AND NOT ${isPresent(sql`n`)}
                   THEN ${claimableAt(sql`n`)} ELSE ${v.lookAgainAt} END) AS at,
     min(n.last_error) AS problem
   FROM deletion_tasks n LEFT JOIN connected_apps a ON a.id = n.app_id
   WHERE n.withdrawal_id = ${v.withdrawalId} AND n.phase = ${v.step} AND n.status <> 'completed'`,
)

/** Claims the due tasks of a step that no other instance holds; each has a lease of its own. */
export function claimTasks(ctx: SystemContext, { withdrawalId, step }: TasksOfStep): Promise<TaskRow[]> {
  return ctx.sql(claimDue, { withdrawalId, step, ...claimFor(ctx, CALL_LEASE_MS) })
}

/** When the next task of the step is due or its lease ends; null if all are done. */
export async function nextTry(
  tx: Transaction,
  { withdrawalId, step }: TasksOfStep,
): Promise<{ at: Date; problem: string | null } | null> {
  const lookAgainAt = retryAfter(tx, CALL_BACK_OFF.maxMs * tx.timeScale)
  const [left] = await tx.sql(readNextTry, { withdrawalId, step, lookAgainAt })
  return left?.at ? { at: left.at, problem: left.problem } : null
}

/** Makes one attempt. Returns whether the application is done. */
export async function callForTask(ctx: SystemContext, withdrawalId: string, task: TaskRow): Promise<boolean> {
  const { id, attempts, acknowledges } = task
  const answer = await sendTask(ctx, withdrawalId, task)
  const now = ctx.clock.now()
  if (isDone(acknowledges, answer)) {
    await endTask(ctx, withdrawalId, id, answer.status)
    await noteGoodAnswer(ctx, task)
    return true
  }
  if (acknowledges === 'later' && answer.status === 202) {
    const reportBy = new Date(now.getTime() + task.acknowledge_within_s * second)
    await ctx.sql(markAccepted, { id, attempts, now, reportBy })
  } else {
    const problem = answer.problem ?? `HTTP ${answer.status}`
    await ctx.sql(markFailed, { id, attempts, nextTryAt: nextCallAt(ctx, attempts, answer), problem })
  }
  return false
}

/** If an application acknowledges later, only these statuses mean that it is done; another may come from a proxy. */
const isDone = (acknowledges: Acknowledges, answer: AppAnswer) =>
  acknowledges === 'later' ? [200, 204, 404, 410].includes(answer.status) : isSuccess(answer)

/** Completes the task, unless it awaits an absence check, and deletes what was shared with the application. `status` is the status of its answer; null if it reported. */
export async function endTask(
  ctx: SystemContext,
  withdrawalId: string,
  id: string,
  status: number | null,
): Promise<void> {
  for (let isOver = false; !isOver; ) {
    const claim = claimFor(ctx, CALL_LEASE_MS)
    const checkInMs = ABSENCE_CHECK_MS * ctx.timeScale
    const after = (ms: number) => new Date(claim.now.getTime() + ms)
    const [row] = await ctx.sql(completeTask, {
      id,
      withdrawalId,
      status,
      ...claim,
      checkAt: after(checkInMs),
      checkedBy: after(checkInMs + ABSENCE_ESTIMATE_MS * ctx.timeScale),
    })
    isOver = row?.is_over !== false
  }
}

const PERSON_DELETED = 'the purge has deleted whom it is about; stop waiting for it'

async function sendTask(ctx: SystemContext, withdrawalId: string, task: TaskRow): Promise<AppAnswer> {
  const { id, acknowledges, phase } = task
  const person = personOf(ctx, task)
  if (person === null) return { status: 0, problem: problemOfPerson(task) }
  const body = JSON.stringify({
    type: 'account.withdrawn',
    timestamp: task.started_at.toISOString(),
    data: {
      withdrawal_id: withdrawalId,
      ...person,
      ...(acknowledges === 'later' && {
        task: { id, due_by: task.due_by.toISOString(), ...reportPlaceOf(ctx, id) },
      }),
    },
  })
  return sendWebhook(ctx, task, { id, body, about: { withdrawalId, step: phase, taskId: id } })
}

/** Why `personOf` returns null. */
export function problemOfPerson(row: Described<typeof PERSON_ROW>): string {
  const isDeleted = (row.sealed_subject ?? row.subject) === null || (row.sealed_account ?? row.account) === null
  return isDeleted ? PERSON_DELETED : 'no configured key opens whom it is about'
}

/** The id by which the application knows the person, and the account; null if no key opens it or the purge has deleted it. */
export function personOf(
  { secrets }: SystemContext,
  row: Described<typeof PERSON_ROW>,
): { subject: string; account: string } | null {
  const opened = (sealed: Buffer | null, text: string | null) =>
    sealed ? (secrets.open(sealed)?.toString() ?? null) : text
  const subject = opened(row.sealed_subject, row.subject)
  const account = opened(row.sealed_account, row.account)
  return subject !== null && account !== null ? { subject, account } : null
}
