import { CHOICES, type KeptFor } from '@/contract/vocabulary'
import type { Step } from '@/contract/withdrawal'
import { askForAbsence, claimChecks } from '../applications/absence'
import { callForTask, claimTasks, nextTry } from '../applications/deliver'
import { addEndEvent } from '../applications/events'
import type { SystemContext, Transaction } from '../context'
import { MAX_ERASURE_RUN_MS, STEP_BACK_OFF, STEP_LEASE_MS } from '../limits/durations'
import { pseudonymOf } from '../pseudonyms'
import {
  boolean,
  bytes,
  type Described,
  integer,
  NULL,
  type Placeholders,
  type RowOf,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { claimFor, isClaimable, leaseEnd, nextTryAt, release, takeLease } from '../work/queue'
import { erase, inBatches, TIME_TO_ERASE } from './erase'
import { clearPurged } from './purge-retained-data'
import { writeReceipts } from './receipts/receipts'
import type { DeletionStep } from './steps/deletion-step'
import { DELETION_STEPS, erasesAfterTasks } from './steps/deletion-steps'

const DUE_STEP = { withdrawalId: text, step: text.of<Step>() }
type DueStep = Described<typeof DUE_STEP>
const claim = statement(
  'claim-deletion-step',
  { ...DUE_STEP, now: time, leaseUntil: time },
  {
    /** Null after the purge, if no erasure needs it any more. */
    user_id: text.orNull,
    keep_analytics: boolean,
    keep_audit_logs: boolean,
    keep_transaction_history: boolean,
    attempts: integer,
    /** The step has erased its own rows and waits for tasks of applications. */
    is_erased: boolean,
  },
  (v) => sql`UPDATE deletion_steps s SET status = 'processing', ${takeLease(v, sql`s`)}
   FROM withdrawals w
   WHERE s.withdrawal_id = ${v.withdrawalId} AND s.step = ${v.step} AND w.id = s.withdrawal_id AND ${isClaimable(v, sql`s`)}
   RETURNING w.user_id, w.keep_analytics, w.keep_audit_logs, w.keep_transaction_history, s.attempts, s.erased_at IS NOT NULL AS is_erased`,
)
// The withdrawal is locked first, so that when two steps or calls end together, the second sees the end of the first.
const lockWithdrawal = statement(
  'lock-withdrawal',
  { withdrawalId: text },
  { user_id: text.orNull, is_purged: boolean },
  (v) => sql`SELECT user_id, purged_at IS NOT NULL AS is_purged, ${TIME_TO_ERASE}
   FROM withdrawals WHERE id = ${v.withdrawalId} FOR UPDATE`,
)

const isOpen = (v: Placeholders<DueStep>) =>
  sql`withdrawal_id = ${v.withdrawalId} AND step = ${v.step} AND status <> 'completed'`

// A statement does not see its own writes, so it looks only at the other steps. A run that has lost its lease changes nothing but
// the request for receipts, which are written by then. The withdrawal is locked, so that nothing comes between the two reads of its
// row.
const complete = statement(
  'complete-deletion-step',
  { ...DUE_STEP, now: time },
  { sealed_subjects: bytes.orNull, is_first: boolean },
  (v) => sql`WITH step AS (
     UPDATE deletion_steps SET status = 'completed', completed_at = ${v.now}, ${release(NULL)}, last_error = NULL, is_counted = true
     WHERE ${isOpen(v)}
   )
   UPDATE withdrawals w SET completed_at = coalesce(w.completed_at, ${v.now}), receipt_due_at = ${v.now}
   FROM withdrawals before
   WHERE w.id = ${v.withdrawalId} AND before.id = w.id AND NOT EXISTS (
     SELECT FROM deletion_steps WHERE withdrawal_id = ${v.withdrawalId} AND step <> ${v.step} AND status <> 'completed'
   )
   RETURNING w.sealed_subjects, before.completed_at IS NULL AS is_first`,
)
const releaseStep = statement(
  'release-deletion-step',
  { ...DUE_STEP, nextTryAt: time, problem: text.orNull },
  {},
  (v) => sql`UPDATE deletion_steps SET ${release(v.nextTryAt)}, last_error = ${v.problem} WHERE ${isOpen(v)}`,
)
// The step's own part is done. From here on `attempts` counts the tries of its tasks.
const noteErased = statement(
  'note-step-erased',
  { ...DUE_STEP, now: time, nextTryAt: time, problem: text.orNull },
  {},
  (v) => sql`UPDATE deletion_steps SET erased_at = ${v.now}, ${release(v.nextTryAt)},
     last_error = ${v.problem}, attempts = 0
   WHERE ${isOpen(v)}`,
)
const renew = statement(
  'renew-deletion-step',
  { ...DUE_STEP, leaseUntil: time },
  {},
  (v) => sql`UPDATE deletion_steps SET lease_until = ${v.leaseUntil} WHERE ${isOpen(v)}`,
)
// A step that makes progress has not failed, however many runs it takes.
const pause = statement(
  'pause-deletion-step',
  { ...DUE_STEP, now: time },
  {},
  (v) => sql`UPDATE deletion_steps SET ${release(v.now)}, last_error = NULL, attempts = 0 WHERE ${isOpen(v)}`,
)

type ClaimedRow = RowOf<typeof claim>

interface ClaimedStep extends DueStep {
  row: ClaimedRow
}

/**
 * Runs one step if it is due and no other run holds it: claim, erase, ask applications, complete. A run after a crash repeats it
 * without harm. Returns when the step is due again; null if it is completed, or was not ours to run.
 */
export async function runDeletionStep(ctx: SystemContext, due: DueStep): Promise<Date | null> {
  const run = await claimDeletionStep(ctx, due)
  return run ? run('erasure and calls') : null
}

/** A run of a step; returns when the step is due again. */
export type StepRun = (part: 'erasure' | 'erasure and calls') => Promise<Date | null>

/** Claims the step and returns its run, which must begin at once. Null if the step is not due, another run holds it, or the time is doubtful. */
export async function claimDeletionStep(ctx: SystemContext, { withdrawalId, step }: DueStep): Promise<StepRun | null> {
  if (ctx.clock.isOff?.()) return null
  const [row] = await ctx.sql(claim, { withdrawalId, step, ...claimFor(ctx, STEP_LEASE_MS) })
  if (!row) return null
  const attributes = { step, withdrawal_id: withdrawalId }
  return (part) =>
    ctx.traced('deletion_step', attributes, () => runClaimed(ctx, { withdrawalId, step, row }, part !== 'erasure'))
}

async function runClaimed(ctx: SystemContext, claimed: ClaimedStep, isToCall: boolean): Promise<Date | null> {
  const { withdrawalId, step, row } = claimed
  try {
    if (row.is_erased || erasesAfterTasks(step)) return await callApplications(ctx, claimed)
    const { next, isErased } = await eraseFirst(ctx, claimed).catch(async (error) => {
      // A failure of the step's own part must not keep applications from their tasks.
      if (isToCall) await callEach(ctx, claimed)
      throw error
    })
    if (!isErased || !isToCall) return next
    return await callApplications(ctx, { ...claimed, row: { ...row, is_erased: true } })
  } catch (error) {
    const problem = kindOf(error)
    ctx.warn('deletion_step_failed', { withdrawalId, step, problem, attempts: row.attempts })
    await ctx.sql(releaseStep, { withdrawalId, step, nextTryAt: nextTryAt(ctx, row.attempts, STEP_BACK_OFF), problem })
    // The engine stores and shows the error of a step, and a database error can quote a row.
    throw new Error(`${step} failed: ${problem}`)
  }
}

async function eraseFirst(ctx: SystemContext, claimed: ClaimedStep): Promise<Settled> {
  const { step, row } = claimed
  // An older instance may have claimed a step that it does not know; `erase` refuses it.
  const known: DeletionStep | undefined = DELETION_STEPS[step]
  if (known && 'before' in known && row.user_id) await known.before?.(ctx, row.user_id)
  return settle(ctx, claimed)
}

/**
 * Makes one attempt for every due task, side by side. The step is released first: each call has its own lease, so that one that
 * hangs does not delay the next attempt of another.
 */
const callApplications = (ctx: SystemContext, claimed: ClaimedStep): Promise<Date | null> =>
  callEach(ctx, claimed, async () => (await settle(ctx, claimed)).next)

async function callEach(
  ctx: SystemContext,
  { withdrawalId, step }: ClaimedStep,
  settleStep: () => Promise<Date | null> = async () => null,
): Promise<Date | null> {
  const due = { withdrawalId, step }
  const [tasks, checks] = await Promise.all([claimTasks(ctx, due), claimChecks(ctx, due)])
  let nextTryAt = await settleStep()
  let running = tasks.length + checks.length
  const calls = [
    ...tasks.map((task) => () => callForTask(ctx, withdrawalId, task)),
    ...checks.map((check) => () => askForAbsence(ctx, withdrawalId, check)),
  ].map(async (call) => {
    const isDone = await call().finally(() => running--)
    // The end of one that is done changes nothing while others still hold the step open.
    if (!isDone || running === 0) nextTryAt = await settleStep()
  })
  const failed = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
  return nextTryAt
}

interface Settled {
  /** When the step is due again; null if it is completed. */
  next: Date | null
  /** Its own part is done, and tasks of applications keep it open. */
  isErased: boolean
}

/**
 * Completes the step, or releases it until an application is due again, and returns that time. Erases in batches, each a transaction
 * that renews the lease, so that after a crash the next run does the rest.
 */
function settle(ctx: SystemContext, claimed: ClaimedStep): Promise<Settled> {
  const started = performance.now()
  return inBatches((rows) => {
    const isLast = performance.now() - started > MAX_ERASURE_RUN_MS
    return ctx.transaction((tx) => settleBatch(tx, claimed, rows, isLast))
  })
}

/** Null if this run has more to erase. */
async function settleBatch(
  tx: Transaction,
  claimed: ClaimedStep,
  rows: number,
  isLast: boolean,
): Promise<Settled | null> {
  const { withdrawalId, step, row } = claimed
  const [withdrawal] = await tx.sql(lockWithdrawal, { withdrawalId })
  if (!withdrawal) return { next: null, isErased: false }
  const { user_id: userId, is_purged: isPurged } = withdrawal
  const now = tx.clock.now()
  const again = await nextTry(tx, { withdrawalId, step })
  const isErasedNow = !row.is_erased && !(again && erasesAfterTasks(step))
  if (isErasedNow && userId) {
    const keeps = isPurged ? new Set<KeptFor>() : keepsOf(row)
    const erased = { withdrawalId, userId, pseudonym: pseudonymOf(tx, userId), keeps }
    if (!(await erase(tx, step, erased, rows))) return goOn(tx, { withdrawalId, step }, now, isLast)
  }
  if (!again) await completeStep(tx, { withdrawalId, step, userId }, now)
  else if (isErasedNow)
    await tx.sql(noteErased, { withdrawalId, step, now, nextTryAt: again.at, problem: again.problem })
  else await tx.sql(releaseStep, { withdrawalId, step, nextTryAt: again.at, problem: again.problem })
  if (isPurged) await clearPurged(tx, withdrawalId)
  return { next: again?.at ?? null, isErased: again !== null && isErasedNow }
}

/** More is left to erase: the next batch goes on under a new lease or, after the last batch, the next run does. */
async function goOn(tx: Transaction, due: DueStep, now: Date, isLast: boolean): Promise<Settled | null> {
  if (isLast) {
    await tx.sql(pause, { ...due, now })
    return { next: now, isErased: false }
  }
  await tx.sql(renew, { ...due, leaseUntil: leaseEnd(tx.clock.now(), STEP_LEASE_MS) })
  return null
}

/** The last step completes the withdrawal too. */
async function completeStep(
  tx: Transaction,
  { withdrawalId, step, userId }: DueStep & { userId: string | null },
  now: Date,
): Promise<void> {
  const [ended] = await tx.sql(complete, { withdrawalId, step, now })
  if (!ended) return
  if (ended.is_first && userId) {
    await addEndEvent(tx, 'account.withdrawal_completed', { withdrawalId, userId }, ended.sealed_subjects)
  }
  await writeReceipts(tx, withdrawalId)
}

const keepsOf = (row: ClaimedRow): ReadonlySet<KeptFor> =>
  new Set<KeptFor>(['law', ...CHOICES.filter((choice) => row[`keep_${choice}`])])

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? ` ${error.code}` : undefined)

/** Never the message, which can hold an address. */
export const kindOf = (error: unknown): string =>
  error instanceof Error ? error.name + (codeOf(error) ?? codeOf(error.cause) ?? '') : 'unknown'
