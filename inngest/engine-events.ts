import { eventType } from 'inngest'
import * as z from 'zod'
import type { EngineEventName } from '@/domain/work/outbox'

/** Sent after a withdrawal is committed. Payloads carry only ids, because the engine stores and shows them. */
export const withdrawalStarted = eventType('account/withdrawal.started' satisfies EngineEventName, {
  schema: z.object({ withdrawal_id: z.string() }),
})
