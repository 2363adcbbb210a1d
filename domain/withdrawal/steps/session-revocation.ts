import { minute } from '../../limits/durations'
import type { DeletionStep } from './deletion-step'

/** Immediate, 0–5 minutes: sessions and tokens end, access is off. `start-withdrawal.ts` does it. */
export const sessionRevocation: DeletionStep = {
  window: { dueMs: 0, estimateMs: 5 * minute },
  firstStatus: 'completed',
}
