import { serve } from 'inngest/next'
import { processWithdrawal } from '@/inngest/functions/process-withdrawal'
import { purgeRetained } from '@/inngest/functions/purge-retained-data'
import { sendNotices } from '@/inngest/functions/send-notices'
import { sweep } from '@/inngest/functions/sweep'
import { engineOnly } from '@/server/adapters/engine'
import { inngest } from '@/server/adapters/inngest-client'
import { refuseOtherMethods } from '@/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods(
  engineOnly(
    serve({
      client: inngest,
      functions: [processWithdrawal, sweep, sendNotices, purgeRetained],
      enableUnauthedSync: false,
    }),
  ),
)
