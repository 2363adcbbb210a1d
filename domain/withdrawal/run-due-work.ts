import type { Step } from '@/contract/withdrawal'
import { type SystemContext, statement } from '../context'
import { forgetOldKeys } from '../idempotency'
import { expireNotices, sendDueNotices } from '../notices'
import { forgetSentEvents, sendOutboxEvents } from '../outbox'
import { forgetOldBuckets } from '../rate-limit'
import { writeErasureLedger } from './erasure-ledger'
import { purgeRetainedData } from './purge-retained-data'
import { runDeletionStep } from './run-deletion-step'

/** Erasures keep the database busy; calls to applications only wait, and one that hangs must not hold erasures up. */
const ERASURES_AT_ONCE = 4
const BATCH = 100

// The partial index holds unfinished steps only, so the cost follows what is due and not what was ever done.
const dueSteps = statement(
  'due-deletion-steps',
  `SELECT withdrawal_id, step FROM deletion_steps
   WHERE due_at IS NOT NULL AND due_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
   ORDER BY due_at LIMIT $2`,
)

interface DueStep {
  withdrawal_id: string
  step: Step
}

/** Works off every row that is due, whoever should have done it. Any number of instances may run it. */
export async function runDueWork(ctx: SystemContext): Promise<void> {
  await Promise.all([runDueSteps(ctx), sendDueNotices(ctx)])
  await purgeRetainedData(ctx)
  await keepHouse(ctx)
}

/** Sends what the engine did not get, and drops rows whose time is over. */
export async function keepHouse(ctx: SystemContext): Promise<void> {
  await sendOutboxEvents(ctx)
  await writeErasureLedger(ctx)
  await expireNotices(ctx)
  await forgetSentEvents(ctx)
  await forgetOldBuckets(ctx)
  await forgetOldKeys(ctx)
}

/** What one step's failure leaves behind is its own next try; the others go on. */
export async function runDueSteps(ctx: SystemContext): Promise<void> {
  const failures: unknown[] = []
  const run = ({ withdrawal_id, step }: DueStep) =>
    runDeletionStep(ctx, { withdrawalId: withdrawal_id, step }).catch((error) => failures.push(error))
  for (;;) {
    const due = await ctx.sql<DueStep>(dueSteps, [ctx.clock.now(), BATCH])
    const calls = due.filter(({ step }) => step === 'third_party_integrations')
    const erasures = due.filter(({ step }) => step !== 'third_party_integrations')
    const workers = Array.from({ length: ERASURES_AT_ONCE }, async () => {
      for (let next = erasures.shift(); next; next = erasures.shift()) await run(next)
    })
    await Promise.all([...calls.map(run), ...workers])
    if (due.length < BATCH) break
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} deletion steps failed`)
}
