import { eventType } from 'inngest'
import { z } from 'zod'

/** Sent once a withdrawal is committed. Payloads carry ids only: the engine keeps and shows them. */
export const withdrawalStarted = eventType('account/withdrawal.started', {
  schema: z.object({ withdrawal_id: z.string() }),
})
