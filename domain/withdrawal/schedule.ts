import { STEPS, type Step, type StepStatus } from '@/contract/withdrawal'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The phase table: when each step may begin and by when it should be done, counted from the start. */
const WINDOWS: Record<Step, { dueMs: number; estimateMs: number }> = {
  session_revocation: { dueMs: 0, estimateMs: 5 * minute },
  user_profile: { dueMs: 5 * minute, estimateMs: hour },
  third_party_integrations: { dueMs: hour, estimateMs: day },
  data_archives: { dueMs: day, estimateMs: 7 * day },
}

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

/** The request itself completes the first step; the second counts as begun. */
export const FIRST_STATUS = {
  session_revocation: 'completed',
  user_profile: 'processing',
  third_party_integrations: 'pending',
  data_archives: 'pending',
} as const satisfies Record<Step, StepStatus>

/** `timeScale` multiplies every window, the retention too. */
export function planWithdrawal(
  startedAt: Date,
  { timeScale, retentionMs }: { timeScale: number; retentionMs: number },
): WithdrawalPlan {
  const after = (ms: number) => new Date(startedAt.getTime() + Math.round(ms * timeScale))
  return {
    steps: STEPS.map((step) => ({
      step,
      dueAt: after(WINDOWS[step].dueMs),
      estimatedCompletion: after(WINDOWS[step].estimateMs),
    })),
    notifyAt: after(WINDOWS.third_party_integrations.dueMs),
    scheduledCompletion: after(WINDOWS.data_archives.estimateMs),
    purgeDueAt: after(retentionMs),
  }
}

/** Days, as the answers tell them; the time scale does not change what was promised. */
export const retentionDays = (retentionMs: number) => Math.round(retentionMs / day)

/** How long the confirmation of a withdrawal may wait for the mail server. */
export const CONFIRMATION_LIFETIME_MS = day
