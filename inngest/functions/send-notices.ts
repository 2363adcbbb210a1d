import { cron } from 'inngest'
import { sendDueNotices } from '@/domain/queue/notices'
import { inngest } from '@/server/adapters/inngest-client'
import { systemContext } from '@/server/context'

/** Every notice was tried when it was written; this tries again what the mail server did not take. */
export const sendNotices = inngest.createFunction(
  { id: 'send-notices', triggers: [cron('* * * * *')], concurrency: 1, retries: 0 },
  async ({ step }) => ({ sent: await step.run('send-due-notices', () => sendDueNotices(systemContext())) }),
)
