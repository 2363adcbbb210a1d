import { eventType } from 'inngest'
import * as z from 'zod'
import { openSteps, timeUntilDue } from '@/domain/withdrawal/open-steps'
import { runDeletionStep } from '@/domain/withdrawal/run-deletion-step'
import type { EngineEventName } from '@/domain/work/outbox'
import { inngest } from '@/server/adapters/inngest-client'
import { systemContext } from '@/server/system-context'

/** Sent after a withdrawal is committed. Payloads carry only ids, because the engine stores and shows them. */
export const withdrawalStarted = eventType('account/withdrawal.started' satisfies EngineEventName, {
  schema: z.object({ withdrawal_id: z.string() }),
})

/** An engine whose clock is far ahead wakes early each time. After so many tries the sweep takes over the step. */
const MAX_EARLY_WAKES = 10
/** Engines wake up to half a second early. */
const MARGIN_MS = 500

/** Runs each step when it is due. A step that stays open, because an application does not answer, is left to the sweep. */
export const processWithdrawal = inngest.createFunction(
  { id: 'process-withdrawal', triggers: [withdrawalStarted], idempotency: 'event.data.withdrawal_id', retries: 10 },
  async ({ event, step }) => {
    const withdrawalId = event.data.withdrawal_id
    const steps = await step.run('load-steps', () => openSteps(systemContext(), withdrawalId))
    for (const due of steps) {
      const runIfDue = async () => {
        const dueInMs = await timeUntilDue(systemContext(), { withdrawalId, step: due.step })
        if (dueInMs > 0) return { dueInMs }
        await runDeletionStep(systemContext(), { withdrawalId, step: due.step })
      }
      await step.sleepUntil(`wait-for-${due.step}`, due.dueAt)
      let early = await step.run(due.step, runIfDue)
      for (let wakes = 1; early && wakes <= MAX_EARLY_WAKES; wakes++) {
        const again = `${due.step}-again-${wakes}`
        // A relative sleep does not depend on the engine's clock but counts whole seconds, so it is used second.
        if (wakes === 1) await step.sleepUntil(`wait-for-${again}`, new Date(Date.parse(due.dueAt) + MARGIN_MS))
        else await step.sleep(`wait-for-${again}`, Math.ceil(early.dueInMs / 1000) * 1000)
        early = await step.run(again, runIfDue)
      }
    }
  },
)
