import { STEPS } from '@/contract/withdrawal'
import type { SystemContext } from '../context'
import { addPeriod } from '../limits/due-date'
import { day } from '../limits/durations'
import type { Limits } from '../limits/limits'
import { DELETION_STEPS } from './steps/deletion-steps'

interface PlanSettings extends Pick<SystemContext, 'timeScale' | 'statutoryPeriod'> {
  limits: Pick<Limits, 'withdrawalRetentionMs'>
}

export type WithdrawalPlan = ReturnType<typeof planWithdrawal>

/** `timeScale` multiplies every window and the retention, but not the legal deadline `dueBy`. */
export function planWithdrawal({ timeScale, limits, statutoryPeriod }: PlanSettings, startedAt: Date) {
  const after = (ms: number) => new Date(startedAt.getTime() + Math.round(ms * timeScale))
  return {
    steps: STEPS.map((step) => ({
      step,
      dueAt: after(DELETION_STEPS[step].window.dueMs),
      estimatedCompletion: after(DELETION_STEPS[step].window.estimateMs),
    })),
    scheduledCompletion: after(Math.max(...STEPS.map((step) => DELETION_STEPS[step].window.estimateMs))),
    purgeDueAt: after(limits.withdrawalRetentionMs),
    dueBy: addPeriod(startedAt, statutoryPeriod),
  }
}

/** Days as the answers show them; the time scale does not change what was promised. */
export const retentionDays = (retentionMs: number) => Math.round(retentionMs / day)
