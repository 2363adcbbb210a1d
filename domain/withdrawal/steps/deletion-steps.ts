import { STEPS, type Step } from '@/contract/withdrawal'
import { dataArchives } from './data-archives'
import type { DeletionStep } from './deletion-step'
import { sessionRevocation } from './session-revocation'
import { thirdPartyIntegrations } from './third-party-integrations'
import { userProfile } from './user-profile'

/** The phase table: schedule, deletion map, status and engine follow from it. */
export const DELETION_STEPS: Record<Step, DeletionStep> = {
  session_revocation: sessionRevocation,
  user_profile: userProfile,
  third_party_integrations: thirdPartyIntegrations,
  data_archives: dataArchives,
}

/** False also for a step that only newer instances know. */
export const erasesAfterTasks = (step: Step): boolean =>
  Object.hasOwn(DELETION_STEPS, step) && 'erasesAfterTasks' in DELETION_STEPS[step]

/** The steps that erase only after their tasks, as a list for SQL. */
export const STEPS_AFTER_TASKS = STEPS.filter(erasesAfterTasks)
  .map((step) => `'${step}'`)
  .join(', ')
