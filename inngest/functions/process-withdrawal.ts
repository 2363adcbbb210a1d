import { openSteps } from '@/domain/withdrawal/open-steps'
import { runDeletionStep } from '@/domain/withdrawal/run-deletion-step'
import { systemContext } from '@/server/context'
import { inngest } from '../client'
import { withdrawalStarted } from '../events'

/** Runs each step when it is due. A step that stays open, because an application does not answer, is the sweep's. */
export const processWithdrawal = inngest.createFunction(
  { id: 'process-withdrawal', triggers: [withdrawalStarted], idempotency: 'event.data.withdrawal_id', retries: 10 },
  async ({ event, step }) => {
    const withdrawalId = event.data.withdrawal_id
    const steps = await step.run('load-steps', () => openSteps(systemContext(), withdrawalId))
    for (const due of steps) {
      await step.sleepUntil(`wait-for-${due.step}`, due.dueAt)
      await step.run(due.step, async () => {
        await runDeletionStep(systemContext(), { withdrawalId, step: due.step })
      })
    }
  },
)
