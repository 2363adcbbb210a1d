import type { Step } from '@/contract/withdrawal'
import { deleteArchives } from '../applications/archives'
import { claimNotifications, nextTry, notify } from '../applications/deliver'
import { type SystemContext, statement } from '../context'
import type { Sql } from '../sql'
import { erase, FIRST_BATCH, nextBatch, TIME_TO_ERASE } from './erase'
import { pseudonymOf } from './erasure-ledger'
import { forgetPurged } from './purge-retained-data'
import type { KeptFor } from './steps/deletion-step'

/** Longer than anything a step waits for; a run that dies lets go of its step after this. */
const LEASE_MS = 30_000
/** A run that has erased for so long lets others have their turn, and goes on at once. */
const MAX_RUN_MS = 5_000

const claim = statement(
  'claim-deletion-step',
  `UPDATE deletion_steps s SET status = 'processing', lease_until = $4, attempts = s.attempts + 1
   FROM withdrawals w
   WHERE s.withdrawal_id = $1 AND s.step = $2 AND w.id = s.withdrawal_id AND s.due_at <= $3
     AND (s.lease_until IS NULL OR s.lease_until <= $3)
   RETURNING w.user_id, w.keep_analytics, w.keep_audit_logs, w.keep_transaction_history, s.attempts`,
)
// Locking the withdrawal first lets one of two steps, or calls, that end together see that the other has ended.
const lockWithdrawal = statement(
  'lock-withdrawal',
  `SELECT user_id, purged_at IS NOT NULL AS is_purged, ${TIME_TO_ERASE} FROM withdrawals WHERE id = $1 FOR UPDATE`,
)
// A statement does not see what its own parts write: the step counts as completed, and the others are looked at.
const complete = statement(
  'complete-deletion-step',
  `WITH step AS (
     UPDATE deletion_steps SET status = 'completed', completed_at = $3, due_at = NULL, lease_until = NULL, last_error = NULL
     WHERE withdrawal_id = $1 AND step = $2 AND status <> 'completed'
   )
   UPDATE withdrawals SET completed_at = $3
   WHERE id = $1 AND completed_at IS NULL
     AND NOT EXISTS (SELECT FROM deletion_steps WHERE withdrawal_id = $1 AND step <> $2 AND status <> 'completed')`,
)
const release = statement(
  'release-deletion-step',
  `UPDATE deletion_steps SET due_at = $3, lease_until = NULL, last_error = $4
   WHERE withdrawal_id = $1 AND step = $2 AND status <> 'completed'`,
)

const renew = statement(
  'renew-deletion-step',
  `UPDATE deletion_steps SET lease_until = $3 WHERE withdrawal_id = $1 AND step = $2 AND status <> 'completed'`,
)
// What has come forward has not failed, however often it was begun.
const pause = statement(
  'pause-deletion-step',
  `UPDATE deletion_steps SET due_at = $3, lease_until = NULL, last_error = NULL, attempts = 0
   WHERE withdrawal_id = $1 AND step = $2 AND status <> 'completed'`,
)

interface ClaimedRow {
  /** Null once the purge has come and no erasure needs it any more. */
  user_id: string | null
  keep_analytics: boolean
  keep_audit_logs: boolean
  keep_transaction_history: boolean
  attempts: number
}

interface LockedRow {
  user_id: string | null
  is_purged: boolean
}

interface DueStep {
  withdrawalId: string
  step: Step
}

interface ClaimedStep extends DueStep {
  row: ClaimedRow
}

/**
 * Runs one step if it is due and nobody else does: claim, erase, complete. A crash anywhere is repeated harmlessly.
 * Answers when the step wants to run again; null when it is completed, or was not ours to run.
 */
export async function runDeletionStep(ctx: SystemContext, due: DueStep): Promise<Date | null> {
  const run = await claimDeletionStep(ctx, due)
  return run ? run() : null
}

/** The claim alone; what it answers is to be run at once. Null where the step is not due, or another's. */
export async function claimDeletionStep(
  ctx: SystemContext,
  { withdrawalId, step }: DueStep,
): Promise<(() => Promise<Date | null>) | null> {
  const now = ctx.clock.now()
  const [row] = await ctx.sql<ClaimedRow>(claim, [withdrawalId, step, now, new Date(now.getTime() + LEASE_MS)])
  if (!row) return null
  const attributes = { step, withdrawal_id: withdrawalId }
  return () => ctx.traced('deletion_step', attributes, () => runClaimed(ctx, { withdrawalId, step, row }))
}

async function runClaimed(ctx: SystemContext, claimed: ClaimedStep): Promise<Date | null> {
  const { withdrawalId, step, row } = claimed
  try {
    if (step === 'third_party_integrations') return await tellApplications(ctx, claimed)
    if (step === 'data_archives' && row.user_id) {
      // What no transaction can take back comes first, and is safe to repeat.
      await deleteArchives(ctx, row.user_id)
      await ctx.mail.deleteMessages(row.user_id)
    }
    return await settle(ctx, claimed)
  } catch (error) {
    const nextTryAt = new Date(ctx.clock.now().getTime() + backOffMs(row.attempts) * ctx.timeScale)
    await ctx.sql(release, [withdrawalId, step, nextTryAt, kindOf(error)])
    // The engine keeps and shows what a step throws, and a database error can quote a row.
    throw new Error(`${step} failed: ${kindOf(error)}`)
  }
}

/**
 * One try for every application that is due, side by side. The step is let go of first: each call has a lease of its own, so one
 * that hangs holds up no other's next try.
 */
async function tellApplications(ctx: SystemContext, claimed: ClaimedStep): Promise<Date | null> {
  const due = await claimNotifications(ctx, claimed.withdrawalId)
  let nextTryAt = await settle(ctx, claimed)
  const calls = due.map(async (notification) => {
    await notify(ctx, claimed.withdrawalId, notification)
    nextTryAt = await settle(ctx, claimed)
  })
  const failed = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
  return nextTryAt
}

/**
 * Ends the step, or lets go of it until an application wants to be tried again, which it answers. What is to be erased goes in
 * batches, each a transaction that renews the lease: a crash between two leaves the rest to the next run.
 */
async function settle(ctx: SystemContext, claimed: ClaimedStep): Promise<Date | null> {
  const begun = performance.now()
  for (let rows = FIRST_BATCH, at = begun; ; ) {
    const isLast = performance.now() - begun > MAX_RUN_MS
    const { isOver, next } = await ctx.transaction((sql) => settleBatch(ctx, sql, claimed, rows, isLast))
    if (isOver) return next
    const now = performance.now()
    rows = nextBatch(rows, now - at)
    at = now
  }
}

/** `next`: when the step wants to run again. */
async function settleBatch(ctx: SystemContext, sql: Sql, claimed: ClaimedStep, rows: number, isLast: boolean) {
  const { withdrawalId, step, row } = claimed
  const [withdrawal] = await sql<LockedRow>(lockWithdrawal, [withdrawalId])
  if (!withdrawal) return { isOver: true, next: null }
  const { user_id: userId, is_purged: isPurged } = withdrawal
  const again = step === 'third_party_integrations' ? await nextTry(sql, withdrawalId) : null
  if (again) await sql(release, [withdrawalId, step, again.at, again.problem])
  else {
    const keeps = isPurged ? new Set<KeptFor>() : keepsOf(row)
    const erased = userId && { withdrawalId, userId, pseudonym: pseudonymOf(ctx, userId), keeps }
    if (erased && !(await erase(sql, step, erased, rows))) {
      const now = ctx.clock.now()
      if (!isLast) await sql(renew, [withdrawalId, step, new Date(now.getTime() + LEASE_MS)])
      else await sql(pause, [withdrawalId, step, now])
      return { isOver: isLast, next: isLast ? now : null }
    }
    await sql(complete, [withdrawalId, step, ctx.clock.now()])
  }
  if (isPurged) await forgetPurged(sql, withdrawalId)
  return { isOver: true, next: again?.at ?? null }
}

function keepsOf(row: ClaimedRow): ReadonlySet<KeptFor> {
  const choices: [KeptFor, boolean][] = [
    ['law', true],
    ['analytics', row.keep_analytics],
    ['audit_logs', row.keep_audit_logs],
    ['transaction_history', row.keep_transaction_history],
  ]
  return new Set(choices.filter(([, isKept]) => isKept).map(([name]) => name))
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? ` ${error.code}` : undefined)

/** Never its message, which can hold an address. */
const kindOf = (error: unknown): string =>
  error instanceof Error ? error.name + (codeOf(error) ?? codeOf(error.cause) ?? '') : 'unknown'

/** From 5 s doubling to an hour. */
const backOffMs = (attempts: number) => Math.min(5_000 * 2 ** (attempts - 1), 60 * 60_000)
