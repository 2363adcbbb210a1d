import { STEPS, type Step } from '@/contract/withdrawal'
import { addPeriod, type CalendarPeriod } from '../limits/due-date'
import { day } from '../limits/durations'
import { DELETION_STEPS } from './steps/deletion-steps'

export interface PlannedStep {
  step: Step
  dueAt: Date
  estimatedCompletion: Date
}

export interface WithdrawalPlan {
  steps: PlannedStep[]
  scheduledCompletion: Date
  purgeDueAt: Date
  /** The legal deadline of the erasure. */
  dueBy: Date
}

interface PlanSettings {
  timeScale: number
  retentionMs: number
  statutoryPeriod: CalendarPeriod
}

/** `timeScale` multiplies every window and the retention, but not the legal deadline. */
export function planWithdrawal(
  startedAt: Date,
  { timeScale, retentionMs, statutoryPeriod }: PlanSettings,
): WithdrawalPlan {
  const after = (ms: number) => new Date(startedAt.getTime() + Math.round(ms * timeScale))
  return {
    steps: STEPS.map((step) => ({
      step,
      dueAt: after(DELETION_STEPS[step].window.dueMs),
      estimatedCompletion: after(DELETION_STEPS[step].window.estimateMs),
    })),
    scheduledCompletion: after(Math.max(...STEPS.map((step) => DELETION_STEPS[step].window.estimateMs))),
    purgeDueAt: after(retentionMs),
    dueBy: addPeriod(startedAt, statutoryPeriod),
  }
}

/** Days as the answers show them; the time scale does not change what was promised. */
export const retentionDays = (retentionMs: number) => Math.round(retentionMs / day)
