import { serve } from 'inngest/next'
import { FUNCTIONS } from '@/inngest/functions'
import { engineOnly } from '@/server/adapters/engine'
import { inngest } from '@/server/adapters/inngest-client'
import { refuseOtherMethods } from '@/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods(
  engineOnly(
    serve({
      client: inngest,
      functions: FUNCTIONS,
      enableUnauthedSync: false,
    }),
  ),
)
