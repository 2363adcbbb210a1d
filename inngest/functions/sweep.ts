import { cron } from 'inngest'
import { keepHouse, runDueSteps } from '@/domain/due-work'
import { inngest } from '@/server/adapters/inngest-client'
import { systemContext } from '@/server/context'

/** Finds whatever is overdue because an event was lost, late or doubled, or an application did not answer. */
export const sweep = inngest.createFunction(
  { id: 'sweep', triggers: [cron('* * * * *')], concurrency: 1, retries: 0 },
  async ({ step }) => {
    await step.run('run-due-steps', () => runDueSteps(systemContext()))
    await step.run('keep-house', () => keepHouse(systemContext()))
  },
)
