import { STEPS, type Step } from '@/contract/withdrawal'
import { joined, literal, type Part, sql } from '../../sql'
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

/** Where a step stands in `STEPS`, which decides between steps of one time. A step that only newer instances know comes last. */
export const placeOf = (step: Part): Part => {
  const steps = joined(STEPS.map((name) => literal(name)))
  return sql`array_position(ARRAY[${steps}]::text[], ${step}), ${step}`
}

/** False also for a step that only newer instances know. */
export const erasesAfterTasks = (step: Step): boolean =>
  Object.hasOwn(DELETION_STEPS, step) && 'erasesAfterTasks' in DELETION_STEPS[step]

/** The steps that erase only after their tasks, as a list for SQL. */
export const STEPS_AFTER_TASKS = joined(STEPS.filter(erasesAfterTasks).map((step) => literal(step)))
