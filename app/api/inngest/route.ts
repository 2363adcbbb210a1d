import { serve } from 'inngest/next'
import { inngest } from '@/inngest/client'
import { processWithdrawal } from '@/inngest/functions/process-withdrawal'
import { purgeRetained } from '@/inngest/functions/purge-retained-data'
import { sendNotices } from '@/inngest/functions/send-notices'
import { sweep } from '@/inngest/functions/sweep'
import { allowing } from '@/server/allowing'
import { engineOnly } from '@/server/engine'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = allowing(
  engineOnly(
    serve({
      client: inngest,
      functions: [processWithdrawal, sweep, sendNotices, purgeRetained],
      enableUnauthedSync: false,
    }),
  ),
)
