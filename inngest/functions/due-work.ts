import { cron } from 'inngest'
import { DUE_WORK, SCHEDULED_FUNCTIONS, type ScheduledFunction } from '@/domain/due-work'
import { inngest } from '@/server/adapters/inngest-client'
import { systemContext } from '@/server/system-context'

/** A function of the engine that runs its jobs from the list of due work, each as one step. It returns their counts. */
const scheduled = (id: ScheduledFunction) => {
  const { cron: schedule, retries } = SCHEDULED_FUNCTIONS[id]
  return inngest.createFunction({ id, triggers: [cron(schedule)], concurrency: 1, retries }, async ({ step }) => {
    const counted: Record<string, number> = {}
    for (const { name, run, counts } of DUE_WORK.filter(({ runBy }) => runBy === id)) {
      const count = await step.run(name, () => run(systemContext()))
      if (counts && typeof count === 'number') counted[counts] = count
    }
    return counted
  })
}

export const SCHEDULED: Record<ScheduledFunction, ReturnType<typeof scheduled>> = {
  sweep: scheduled('sweep'),
  'send-notices': scheduled('send-notices'),
  'purge-retained-data': scheduled('purge-retained-data'),
}
