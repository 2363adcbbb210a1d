import { cron } from 'inngest'
import { purgeRetainedData } from '@/domain/withdrawal/purge-retained-data'
import { inngest } from '@/server/adapters/inngest-client'
import { systemContext } from '@/server/context'

/** Ends the retention of what had to stay. */
export const purgeRetained = inngest.createFunction(
  { id: 'purge-retained-data', triggers: [cron('*/10 * * * *')], concurrency: 1, retries: 2 },
  async ({ step }) => ({ purged: await step.run('purge', () => purgeRetainedData(systemContext())) }),
)
