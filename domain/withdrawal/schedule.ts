import { STEPS, type Step } from '@/contract/withdrawal'
import { day } from '../limits/durations'
import { DELETION_STEPS } from './steps/deletion-steps'

export interface PlannedStep {
  step: Step
  dueAt: Date
  estimatedCompletion: Date
}

export interface WithdrawalPlan {
  steps: PlannedStep[]
  /** When connected applications are told first. */
  notifyAt: Date
  scheduledCompletion: Date
  purgeDueAt: Date
}

/** `timeScale` multiplies every window, the retention too. */
export function planWithdrawal(
  startedAt: Date,
  { timeScale, retentionMs }: { timeScale: number; retentionMs: number },
): WithdrawalPlan {
  const after = (ms: number) => new Date(startedAt.getTime() + Math.round(ms * timeScale))
  return {
    steps: STEPS.map((step) => ({
      step,
      dueAt: after(DELETION_STEPS[step].window.dueMs),
      estimatedCompletion: after(DELETION_STEPS[step].window.estimateMs),
    })),
    notifyAt: after(DELETION_STEPS.third_party_integrations.window.dueMs),
    scheduledCompletion: after(Math.max(...STEPS.map((step) => DELETION_STEPS[step].window.estimateMs))),
    purgeDueAt: after(retentionMs),
  }
}

/** Days, as the answers tell them; the time scale does not change what was promised. */
export const retentionDays = (retentionMs: number) => Math.round(retentionMs / day)
