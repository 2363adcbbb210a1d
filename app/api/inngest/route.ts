import { serve } from 'inngest/next'
import { inngest } from '@/inngest/client'
import { FUNCTIONS } from '@/inngest/functions'
import { engineOnly } from '@/server/adapters/engine'
import { allowing } from '@/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = allowing(
  engineOnly(
    serve({
      client: inngest,
      functions: FUNCTIONS,
      enableUnauthedSync: false,
    }),
  ),
)
