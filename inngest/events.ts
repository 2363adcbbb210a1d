import { eventType } from 'inngest'
import { z } from 'zod'
import type { EngineEventName } from '@/domain/queue/outbox'

/** Sent once a withdrawal is committed. Payloads carry ids only: the engine keeps and shows them. */
export const withdrawalStarted = eventType('account/withdrawal.started' satisfies EngineEventName, {
  schema: z.object({ withdrawal_id: z.string() }),
})
