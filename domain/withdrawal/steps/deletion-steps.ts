import type { Step } from '@/contract/withdrawal'
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
