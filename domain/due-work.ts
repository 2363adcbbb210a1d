import type { Step } from '@/contract/withdrawal'
import { type SystemContext, statement } from './context'
import type { DeletionCalls } from './process'
import { forgetWhatIsOver } from './queue/cleanup'
import { beginDueDeliveries } from './queue/events'
import { expireNotices, sendDueNotices } from './queue/notices'
import { sendOutboxEvents } from './queue/outbox'
import { writeErasureLedger } from './withdrawal/erasure-ledger'
import { purgeRetainedData } from './withdrawal/purge-retained-data'
import { claimDeletionStep, runDeletionStep } from './withdrawal/run-deletion-step'
import { tellSilentApps } from './withdrawal/watch-withdrawals'

const ERASURES_AT_ONCE = 4
/** Calls to applications only wait. Of first tries and of later ones there may be so many each. */
const CALLS_AT_ONCE = 100
const BATCH = 100

// The partial index holds unfinished steps only, so the cost follows what is due and not what was ever done.
const DUE = 'due_at IS NOT NULL AND due_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)'
const dueErasures = statement(
  'due-erasures',
  `SELECT withdrawal_id, step FROM deletion_steps
   WHERE ${DUE} AND step <> 'third_party_integrations' ORDER BY due_at LIMIT $2`,
)
const dueCalls = statement(
  'due-calls',
  `SELECT withdrawal_id, step FROM deletion_steps
   WHERE ${DUE} AND step = 'third_party_integrations' AND (attempts = 0) = $3 ORDER BY due_at LIMIT $2`,
)

interface DueRow {
  withdrawal_id: string
  step: Step
}

/** All that time brings: each works off every row that is due, whoever should have done it. Any number of instances may run it. */
export const DUE_WORK: readonly ((ctx: SystemContext) => Promise<unknown>)[] = [
  (ctx) => runDueSteps(ctx),
  (ctx) => beginDueDeliveries(ctx),
  (ctx) => sendDueNotices(ctx),
  (ctx) => purgeRetainedData(ctx),
  keepHouse,
]

/** Sends what the engine did not get, drops rows whose time is over, and tells of silent applications. What fails holds nothing else up. */
export async function keepHouse(ctx: SystemContext): Promise<void> {
  const parts = [sendOutboxEvents, writeErasureLedger, expireNotices, forgetWhatIsOver, tellSilentApps]
  const results = await Promise.allSettled(parts.map((part) => part(ctx)))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'housekeeping failed')
}

/** Erasures are done when it ends; of the calls to applications it waits for none. */
export async function runDueSteps(ctx: SystemContext, callsAtOnce = CALLS_AT_ONCE): Promise<void> {
  beginDueCalls(ctx, callsAtOnce)
  await runDueErasures(ctx)
}

/** What one step's failure leaves behind is its own next try; the others go on. */
async function runDueErasures(ctx: SystemContext) {
  const failures: unknown[] = []
  for (;;) {
    const due = await ctx.sql<DueRow>(dueErasures, [ctx.clock.now(), BATCH])
    const left = [...due]
    let isAnyPaused = false
    const workers = Array.from({ length: ERASURES_AT_ONCE }, async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const { withdrawal_id: withdrawalId, step } = next
        const again = await runDeletionStep(ctx, { withdrawalId, step }).catch((error) => void failures.push(error))
        if (again) isAnyPaused = true
      }
    })
    await Promise.all(workers)
    // One that has much to erase goes on now, beside what has come due meanwhile.
    if (due.length < BATCH && !isAnyPaused) break
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} deletion steps failed`)
}

function beginDueCalls(ctx: SystemContext, atOnce: number) {
  for (const places of ctx.process.deletionCalls) {
    if (places.isFilling) continue
    places.isFilling = true
    ctx.background(() =>
      fill(ctx, places, atOnce).finally(() => {
        places.isFilling = false
      }),
    )
  }
}

/** Begins what is due as places come free, until nothing more is. */
async function fill(ctx: SystemContext, { isFirst, taken }: DeletionCalls, atOnce: number) {
  for (;;) {
    if (taken.size >= atOnce) await Promise.race(taken)
    const room = atOnce - taken.size
    const due = await ctx.sql<DueRow>(dueCalls, [ctx.clock.now(), room, isFirst])
    await Promise.all(due.map((step) => begin(ctx, step, taken)))
    if (due.length < room) return
  }
}

async function begin(ctx: SystemContext, { withdrawal_id: withdrawalId, step }: DueRow, taken: DeletionCalls['taken']) {
  const run = await claimDeletionStep(ctx, { withdrawalId, step })
  if (!run) return
  const calls = run()
  const ended: Promise<unknown> = calls.catch(() => {}).then(() => taken.delete(ended))
  taken.add(ended)
  ctx.background(() => calls)
}
