import type { Step } from '@/contract/withdrawal'
import { markAccounts } from './accounts/mark-accounts'
import { beginDueDeliveries } from './applications/deliveries'
import type { SystemContext } from './context'
import { expireNotices, sendDueNotices } from './mail/notice-queue'
import { answerDueLinkRequests } from './mail/request-link'
import { mapConcurrently } from './map-concurrently'
import { LINK_NOTICES, NOTICE_KINDS } from './notices'
import type { CallQueue } from './process'
import { boolean, type Described, integer, type Part, type Placeholders, sql, statement, text, time } from './sql'
import { writeErasureLedger } from './withdrawal/ledger/erasure-ledger'
import { purgeRetainedData } from './withdrawal/purge-retained-data'
import { writeDueReceipts } from './withdrawal/receipts/receipts'
import { claimDeletionStep } from './withdrawal/run-deletion-step'
import { STEPS_AFTER_TASKS } from './withdrawal/steps/deletion-steps'
import { reportSilentApps } from './withdrawal/watch-withdrawals'
import { cleanUp } from './work/cleanup'
import { drain } from './work/coalesce'
import { sendAudit } from './work/export-audit'
import { type EngineEventName, sendOutboxEvents } from './work/outbox'
import { holdPlace, isDueAndClaimable, throwAll } from './work/queue'

/** The engine's scheduled functions. An engine stores its runs under these ids and under the names of the jobs, so both are frozen. */
export const SCHEDULED_FUNCTIONS = {
  sweep: { cron: '* * * * *', retries: 0 },
  'send-notices': { cron: '* * * * *', retries: 0 },
  'purge-retained-data': { cron: '*/10 * * * *', retries: 2 },
} as const

export type ScheduledFunction = keyof typeof SCHEDULED_FUNCTIONS

export interface DueJob {
  /** The id of the engine's step. */
  name: string
  description: string
  /** The engine's function that runs it. The in-process sweep runs every job. */
  runBy: ScheduledFunction
  /** The event that makes the engine run the same work at once, without waiting for the schedule. */
  wokenBy?: EngineEventName
  /** What the number means that `run` returns. */
  counts?: string
  /** Works off every row that is due. Any number of instances may run it. */
  run(ctx: SystemContext): Promise<unknown>
}

/** Everything that becomes due with time. The in-process sweep and the engine's functions are both made from this list. */
export const DUE_WORK: readonly DueJob[] = [
  {
    name: 'run-due-steps',
    description: 'Runs the due deletion steps of withdrawals, and begins the calls to applications.',
    runBy: 'sweep',
    wokenBy: 'account/withdrawal.started',
    run: (ctx) => runDueSteps(ctx),
  },
  {
    name: 'begin-due-deliveries',
    description: 'Begins the due deliveries of events to applications.',
    runBy: 'sweep',
    run: (ctx) => beginDueDeliveries(ctx),
  },
  {
    name: 'send-due-notices',
    description: 'Sends the notices that the mail server did not take at an earlier attempt.',
    runBy: 'send-notices',
    counts: 'sent',
    run: (ctx) => sendDueNotices(ctx, NOTICE_KINDS),
  },
  {
    name: 'answer-password-resets',
    description: 'Answers the requests for a mailed link that a process left behind.',
    runBy: 'send-notices',
    run: (ctx) => answerDueLinkRequests(ctx, LINK_NOTICES),
  },
  {
    name: 'purge',
    description: 'Deletes what withdrawals retained, at the end of the retention.',
    runBy: 'purge-retained-data',
    counts: 'purged',
    run: (ctx) => purgeRetainedData(ctx),
  },
  {
    name: 'keep-house',
    description: 'Hands events to the engine, gives up expired notices, cleans up, and reports silent applications.',
    runBy: 'sweep',
    run: runHousekeeping,
  },
  {
    name: 'send-audit',
    description: 'Sends the rows of the audit to the collector of telemetry, if one is configured.',
    runBy: 'sweep',
    run: sendAudit,
  },
  {
    name: 'write-ledger',
    description: 'Writes the erasure ledger, whose store may hang, and the receipts that wait for it.',
    runBy: 'sweep',
    // A receipt can need the line that is written just before it; others have theirs, whatever becomes of the ledger.
    run: (ctx) => writeErasureLedger(ctx).finally(() => writeDueReceipts(ctx)),
  },
]

/** Runs the parts side by side; one that fails does not delay the others. */
async function runHousekeeping(ctx: SystemContext): Promise<void> {
  // After an update or a rotation it goes on for minutes.
  ctx.background(() => markAccounts(ctx))
  const parts = [sendOutboxEvents, expireNotices, cleanUp, reportSilentApps]
  const results = await Promise.allSettled(parts.map((part) => part(ctx)))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  throwAll(failures, 'housekeeping failed')
}

const MAX_CONCURRENT_ERASURES = 4
/** For first calls and for repeated ones each. Calls to applications mostly wait, so many cost little. */
const MAX_CONCURRENT_CALLS = 100
const BATCH_SIZE = 100

const DUE = { now: time, maxRows: integer }

const DUE_ROW = { withdrawal_id: text, step: text.of<Step>() }
type DueRow = Described<typeof DUE_ROW>

// The partial index holds only unfinished steps, so that the cost follows the due steps and not the history.
const dueSteps = (v: Placeholders<typeof DUE>, condition: Part) =>
  sql`SELECT s.withdrawal_id, s.step FROM deletion_steps s
   WHERE ${isDueAndClaimable(v, sql`s`)} AND ${condition} ORDER BY s.due_at LIMIT ${v.maxRows}`
// An erasure that fails must not keep applications from their tasks.
const HAS_CALLS = sql`(s.step IN (${STEPS_AFTER_TASKS}) OR s.erased_at IS NOT NULL OR s.attempts > 0 AND EXISTS (
     SELECT FROM deletion_tasks n WHERE n.withdrawal_id = s.withdrawal_id AND n.phase = s.step AND n.status <> 'completed'))`
const dueErasures = statement('due-erasures', DUE, DUE_ROW, (v) => dueSteps(v, sql`NOT ${HAS_CALLS}`))
const dueCalls = statement('due-calls', { ...DUE, isFirst: boolean }, DUE_ROW, (v) =>
  dueSteps(v, sql`${HAS_CALLS} AND (s.attempts = 0) = ${v.isFirst}`),
)

/** Completes the due erasures, and starts the due calls to applications without waiting for them. */
export async function runDueSteps(ctx: SystemContext, maxCalls = MAX_CONCURRENT_CALLS): Promise<void> {
  beginDueCalls(ctx, maxCalls)
  const isAnyLeft = await runDueErasures(ctx)
  // A step that has just erased may have tasks, which are now due.
  if (isAnyLeft) beginDueCalls(ctx, maxCalls)
}

/** A step that fails sets its own next try; the others go on. Returns whether any step is still open. */
async function runDueErasures(ctx: SystemContext): Promise<boolean> {
  const failures: unknown[] = []
  const noteFailure = (error: unknown) => void failures.push(error)
  const runOne = async ({ withdrawal_id: withdrawalId, step }: DueRow) => {
    const run = await claimDeletionStep(ctx, { withdrawalId, step }).catch(noteFailure)
    if (!run) return 'not ours'
    return (await run('erasure').catch(noteFailure)) ? 'paused' : 'over'
  }
  let isAnyLeft = false
  for (;;) {
    const due = await ctx.sql(dueErasures, { now: ctx.clock.now(), maxRows: BATCH_SIZE })
    const outcomes = await mapConcurrently(due, MAX_CONCURRENT_ERASURES, runOne)
    const isAnyPaused = outcomes.includes('paused')
    isAnyLeft ||= isAnyPaused
    // A paused step goes on at once, beside newly due steps. A batch that other instances have claimed is not read again.
    if (outcomes.every((outcome) => outcome === 'not ours') || (due.length < BATCH_SIZE && !isAnyPaused)) break
  }
  throwAll(failures, `${failures.length} deletion steps failed`)
  return isAnyLeft
}

/** Starts due calls as places come free, until no more are due or other instances have claimed them all. */
function beginDueCalls(ctx: SystemContext, maxCalls: number) {
  for (const queue of ctx.process.deletionCalls) {
    const { isFirst, calls } = queue
    drain(ctx, queue, async () => {
      if (calls.size >= maxCalls) await Promise.race(calls)
      const maxRows = maxCalls - calls.size
      const due = await ctx.sql(dueCalls, { now: ctx.clock.now(), maxRows, isFirst })
      const areOurs = await Promise.all(due.map((step) => begin(ctx, step, queue)))
      return due.length === maxRows && areOurs.includes(true)
    })
  }
}

/** False if another run has the step, or it is not due. */
async function begin(
  ctx: SystemContext,
  { withdrawal_id: withdrawalId, step }: DueRow,
  queue: CallQueue,
): Promise<boolean> {
  const run = await claimDeletionStep(ctx, { withdrawalId, step })
  if (!run) return false
  const call = run('erasure and calls')
  holdPlace(queue, call)
  ctx.background(() => call)
  return true
}
